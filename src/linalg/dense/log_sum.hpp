// Sums of logarithms over many values: one logarithm per block of them, which may all be equal.
#pragma once

#include "base/view.hpp"

namespace bdl {

/// Returns sum_i log v_i; not finite if a value is not finite or not positive.
template <class T>
double sum_of_logs(ConstSpan<T> values);

}  // namespace bdl
