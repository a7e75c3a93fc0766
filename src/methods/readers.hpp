// Tells which options a combination reads. The knowledge is a table, readers.def.
#pragma once

#include "methods/combination.hpp"

namespace bdl {

/// Returns who reads an option, as a static text that completes "is read by".
const char* readers_of(const OptionInfo& info);

/// Fails with ERROR_UNSUPPORTED if nothing reads an option whose value is neither the one in `before` nor the
/// method's default.
void check_read(const Combination& c, const Options& before);

}  // namespace bdl
