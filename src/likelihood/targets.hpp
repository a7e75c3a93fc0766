// Which values of y a likelihood has.
#pragma once

#include "likelihood/likelihood.hpp"

namespace bdl {

/// Is it finite and, where y is not real, a label?
bool is_target(const Likelihood& likelihood, double value);

/// The targets there are, in words.
const char* target_range(const Likelihood& likelihood);

}  // namespace bdl
