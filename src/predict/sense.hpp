// Networks whose training has run away predict finite numbers that mean nothing.
#pragma once

#include "model/model.hpp"

namespace bdl {

/// Fails with ERROR_DIVERGED, naming the example, where a network's output (C x M, for the inputs x) is
/// beyond every sense: 1e8 (1 + max |x|) in log odds, or standard deviations of standardised targets; of
/// others, 1e12 standard deviations of the noise. Outputs that overflow count as the largest of their type.
/// Models of the caller's own may give any number, but NaN, which is what they have not written.
template <class T, class Out>
void check_sense(const Model<T>& model, ConstMatrixView<T> x, ConstMatrixView<Out> f, Index first);

}  // namespace bdl
