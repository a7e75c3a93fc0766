// The options of training, by name. One table (options.def) gives the fields, the parser, the documentation
// and every language's keyword arguments. choices.hpp has the enumerations of those that are words. Which of
// them go together with a method, a model and a posterior: methods/combination.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/view.hpp"
#include "options/choices.hpp"

namespace bdl {

/// All options. Numbers come first, then choices, which are half as wide, so that there is no padding.
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
  const char* range;         // the words, separated by " | ", for a choice
  const char* doc;
  double low, high;
  double Options::*real;
  std::int64_t Options::*integer;
  std::int32_t (*choice)(const Options&);  // returns the number of the word, from 0
  void (*choose)(Options&, std::int32_t word);
};

std::span<const OptionInfo> option_table();

/// Fails with ERROR_UNKNOWN_OPTION, suggesting the nearest name, or ERROR_INVALID_ARGUMENT if the type
/// differs.
const OptionInfo& find_option(const char* name, OptionType type);

/// Does the same for options of any type.
const OptionInfo& find_option(std::string_view name);

void set_option(Options& options, const OptionInfo& info, double value);
void set_option(Options& options, const OptionInfo& info, std::int64_t value);
void set_option(Options& options, const OptionInfo& info, const char* word);
/// Sets options from a text such as "name=value name=value"; on an error, which names the word, none is set.
/// Returns true if one of them defines the prior.
bool set_option_text(Options& options, const char* text);
/// True for options that define the prior's groups and precisions.
bool is_prior_option(const OptionInfo& info);
/// Returns the default as a static text.
const char* default_text(const OptionInfo& info);
/// Returns the option's value as messages have it: 0.5, 3 or, of a choice, "word".
std::string value_text(const Options& options, const OptionInfo& info);
/// Returns the word of a choice as a static text.
const char* choice_word(const OptionInfo& info, std::int32_t index);

}  // namespace bdl
