#include "methods/preset.hpp"

#include <cstring>
#include <string>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr Preset all_presets[] = {
#define BDL_PRESET(name, method, options, epochs, doc) {name, method, options, epochs, doc},
#include "methods/presets.def"
#undef BDL_PRESET
};

}  // namespace

std::span<const Preset> preset_table() {
  return all_presets;
}

const Preset& find_preset(const char* name) {
  std::string names;
  for (const Preset& preset : all_presets) {
    if (std::strcmp(preset.name, name) == 0) return preset;
    names += names.empty() ? "\"" : ", \"";
    names += preset.name + std::string("\"");
  }
  fail(Status::ERROR_INVALID_ARGUMENT, "preset is \"%.60s\", expected one of %s", name, names.c_str());
}

}  // namespace bdl
