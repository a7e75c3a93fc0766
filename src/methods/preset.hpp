// The table of published settings (presets.def).
#pragma once

#include <span>

#include "base/view.hpp"

namespace bdl {

struct Preset {
  const char *name, *method, *options;
  Index epochs;
  const char* doc;
};

std::span<const Preset> preset_table();

/// Returns the preset of this name. Fails with ERROR_INVALID_ARGUMENT, listing the names.
const Preset& find_preset(const char* name);

}  // namespace bdl
