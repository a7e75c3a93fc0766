// The table of methods: a name, and the options in which it differs from the defaults.
#pragma once

#include "inference/options.hpp"

namespace bdl {

struct Method {
  const char* name;
  std::int32_t curvature;  // index of option "curvature"
};

std::span<const Method> method_table();

/// Fails with ERROR_INVALID_ARGUMENT listing the names.
const Method& find_method(const char* name);

}  // namespace bdl
