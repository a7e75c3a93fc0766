// The Jacobian of a model's outputs with respect to its parameters, written out.
#pragma once

#include "model/model.hpp"

namespace bdl {

/// Column i C + c of out (D x M C) = d f_c(x_i; theta) / d theta, for x: inputs x M. Of networks by
/// back-propagation of unit seeds, of a user's model through its gradients callback. Fails with
/// ERROR_DIVERGED unless outputs and Jacobian are finite, with ERROR_UNSUPPORTED without that callback.
template <class T>
void write_jacobian(const Model<T>& model, ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> out);

}  // namespace bdl
