// Named options: one table (options.def) gives the fields, the parser and the documentation.
#pragma once

#include <cstdint>

#include "base/view.hpp"

namespace bdl {

struct Options {
#define BDL_DOUBLE(name, value, low, high, range, doc) double name = value;
#define BDL_INT(name, value, low, high, range, doc) std::int64_t name = value;
#define BDL_CHOICE(name, value, words, doc) std::int32_t name = value;
#include "options/options.def"
#undef BDL_DOUBLE
#undef BDL_INT
#undef BDL_CHOICE
};

enum class PriorScaling { unit = 0, fan_in = 1 };                               // words of "prior_scaling"
enum class MeanUpdateOption { automatic = 0, projected = 1, unprojected = 2 };  // words of "mean_update"

enum class OptionType { real = 1, integer = 2, choice = 3 };

struct OptionInfo {
  const char* name;
  OptionType type;
  const char* default_text;  // null for a choice
  const char* range;         // for a choice: its words, separated by " | "
  const char* doc;
  double low, high;
  double Options::*real;
  std::int64_t Options::*integer;
  std::int32_t Options::*choice;
};

std::span<const OptionInfo> option_table();

/// Fails with ERROR_UNKNOWN_OPTION offering the nearest name, or ERROR_INVALID_ARGUMENT if the type is
/// another.
const OptionInfo& find_option(const char* name, OptionType type);

void set_option(Options& options, const OptionInfo& info, double value);
void set_option(Options& options, const OptionInfo& info, std::int64_t value);
void set_option(Options& options, const OptionInfo& info, const char* word);
/// Options that define the prior's groups and precisions.
bool is_prior_option(const OptionInfo& info);
/// The default as text, a static string.
const char* default_text(const OptionInfo& info);
/// The word of a choice, a static string.
const char* choice_word(const OptionInfo& info, std::int32_t index);

}  // namespace bdl
