// Temperature scaling (Guo et al. 2017): one number that makes logits as certain as validation data say.
#pragma once

#include "base/array.hpp"

namespace bdl {

/// In [1/1000, 1000]; at a limit where the optimum is beyond it.
double fit_temperature(const Array& logits, const Array& y);
/// log softmax(logits / temperature).
void apply_temperature(const Array& logits, double temperature, const OutArray& log_probabilities);

}  // namespace bdl
