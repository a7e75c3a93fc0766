// The levels of quantiles that a caller asks for.
#pragma once

#include <vector>

#include "predict/mixture_quantile.hpp"

namespace bdl {

/// Fails with ERROR_UNSUPPORTED where y is a class.
void check_has_quantiles(const Likelihood& likelihood);
/// Fails unless 0 < value < 1.
void check_probability(double value, const char* name);
/// The caller's 1 x K levels, checked.
void read_levels(const Array& levels, std::vector<Tail>& tails);

}  // namespace bdl
