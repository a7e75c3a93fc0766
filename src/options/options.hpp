// Named options: one table (options.def) gives the fields, the parser and the documentation.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/view.hpp"
#include "options/choices.hpp"

namespace bdl {

/// Numbers first, then the choices, which are half as wide: no holes.
struct Options {
#define BDL_DOUBLE(name, value, low, high, range, doc) double name = value;
#define BDL_INT(name, value, low, high, range, doc) std::int64_t name = value;
#define BDL_CHOICE(Type, name, value, words, doc)
#include "options/options.def"
#undef BDL_DOUBLE
#undef BDL_INT
#undef BDL_CHOICE
#define BDL_DOUBLE(name, value, low, high, range, doc)
#define BDL_INT(name, value, low, high, range, doc)
#define BDL_CHOICE(Type, name, value, words, doc) Type name = Type::value;
#include "options/options.def"
#undef BDL_DOUBLE
#undef BDL_INT
#undef BDL_CHOICE
};

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
  std::int32_t (*choice)(const Options&);  // the number of the word, from 0
  void (*choose)(Options&, std::int32_t word);
};

std::span<const OptionInfo> option_table();

/// Fails with ERROR_UNKNOWN_OPTION offering the nearest name, or ERROR_INVALID_ARGUMENT if the type is
/// another.
const OptionInfo& find_option(const char* name, OptionType type);

/// Whatever its type is.
const OptionInfo& find_option(std::string_view name);

void set_option(Options& options, const OptionInfo& info, double value);
void set_option(Options& options, const OptionInfo& info, std::int64_t value);
void set_option(Options& options, const OptionInfo& info, const char* word);
/// Sets what "name=value name=value" says, whole or, on any error, not at all; the error names the word.
/// Returns whether an option was among them that defines the prior.
bool set_option_text(Options& options, const char* text);
/// Options that define the prior's groups and precisions.
bool is_prior_option(const OptionInfo& info);
/// The default as text, a static string.
const char* default_text(const OptionInfo& info);
/// The word of a choice, a static string.
const char* choice_word(const OptionInfo& info, std::int32_t index);

}  // namespace bdl
