#include "options/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/word_distance.hpp"

namespace bdl {
namespace {

constexpr OptionInfo all_options[] = {
#define BDL_DOUBLE(name, value, low, high, range, doc) \
  {#name, OptionType::real, #value, range, doc, low, high, &Options::name, nullptr, nullptr, nullptr},
#define BDL_INT(name, value, low, high, range, doc)                                                         \
  {#name,   OptionType::integer, #value,  range,  doc, static_cast<double>(low), static_cast<double>(high), \
   nullptr, &Options::name,      nullptr, nullptr},
#define BDL_CHOICE(Type, name, value, words, doc)                      \
  {#name,                                                              \
   OptionType::choice,                                                 \
   nullptr,                                                            \
   words,                                                              \
   doc,                                                                \
   0,                                                                  \
   0,                                                                  \
   nullptr,                                                            \
   nullptr,                                                            \
   [](const Options& o) { return static_cast<std::int32_t>(o.name); }, \
   [](Options& o, std::int32_t word) { o.name = static_cast<Type>(word); }},
#include "options/options.def"
#undef BDL_DOUBLE
#undef BDL_INT
#undef BDL_CHOICE
};
constexpr std::size_t option_count = std::size(all_options);

/// The words of all choices, separated.
struct Words {
  std::array<std::vector<std::string>, option_count> of;
  Words() {
    for (std::size_t i = 0; i < option_count; ++i) {
      if (all_options[i].type != OptionType::choice) continue;
      std::string_view rest = all_options[i].range;
      for (std::size_t bar; (bar = rest.find(" | ")) != rest.npos; rest.remove_prefix(bar + 3))
        of[i].emplace_back(rest.substr(0, bar));
      of[i].emplace_back(rest);
    }
  }
};

const std::vector<std::string>& words_of(const OptionInfo& info) {
  static const Words words;
  return words.of[static_cast<std::size_t>(&info - option_table().data())];
}

const char* type_name(OptionType type) {
  return type == OptionType::real ? "a real number" : type == OptionType::integer ? "an integer" : "a choice";
}

}  // namespace

std::span<const OptionInfo> option_table() {
  return all_options;
}

const OptionInfo& find_option(std::string_view name) {
  const auto infos = option_table();
  const auto found = std::ranges::find(infos, name, &OptionInfo::name);
  if (found != infos.end()) return *found;
  const std::string wanted(name.substr(0, 60));
  const auto nearest = std::ranges::min_element(
      infos, {}, [&](const OptionInfo& info) { return word_distance(wanted, info.name); });
  fail(Status::ERROR_UNKNOWN_OPTION, "no option \"%s\", did you mean \"%s\"?", wanted.c_str(), nearest->name);
}

const OptionInfo& find_option(const char* name, OptionType type) {
  const OptionInfo& info = find_option(name);
  if (info.type != type)
    fail(Status::ERROR_INVALID_ARGUMENT, "option \"%s\" is %s, not %s", info.name, type_name(info.type),
         type_name(type));
  return info;
}

void set_option(Options& options, const OptionInfo& info, double value) {
  if (!(value >= info.low && value <= info.high))
    fail(Status::ERROR_INVALID_ARGUMENT, "option \"%s\" is %g, expected %s", info.name, value, info.range);
  options.*info.real = value;
}

void set_option(Options& options, const OptionInfo& info, std::int64_t value) {
  const auto real = static_cast<double>(value);
  if (!(real >= info.low && real <= info.high))
    fail(Status::ERROR_INVALID_ARGUMENT, "option \"%s\" is %lld, expected %s", info.name,
         static_cast<long long>(value), info.range);
  options.*info.integer = value;
}

void set_option(Options& options, const OptionInfo& info, const char* word) {
  const auto& words = words_of(info);
  const auto found = std::ranges::find(words, word);
  if (found == words.end())
    fail(Status::ERROR_INVALID_ARGUMENT, "option \"%s\" is \"%.60s\", expected %s", info.name, word,
         info.range);
  info.choose(options, static_cast<std::int32_t>(found - words.begin()));
}

namespace {

/// Parses a whole word as a number, in the C locale whatever the host's is.
template <class Number>
Number parsed(const OptionInfo& info, const std::string& word) {
  Number value{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end)
    fail(Status::ERROR_INVALID_ARGUMENT, "option \"%s\" is \"%.60s\", expected %s, %s", info.name,
         word.c_str(), type_name(info.type), info.range);
  return value;
}

void set_word(Options& options, const OptionInfo& info, const std::string& word) {
  if (info.type == OptionType::real)
    set_option(options, info, parsed<double>(info, word));
  else if (info.type == OptionType::integer)
    set_option(options, info, parsed<std::int64_t>(info, word));
  else
    set_option(options, info, word.c_str());
}

constexpr std::string_view blanks = " \t\r\n";

}  // namespace

bool set_option_text(Options& options, const char* text) {
  Options changed = options;
  bool has_prior = false;
  for (std::string_view rest = text;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    if (rest.empty()) break;
    const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
    const std::size_t sign = word.find('=');
    if (sign == word.npos || sign == 0)
      fail(Status::ERROR_INVALID_ARGUMENT, "\"%.60s\" is not of the form name=value",
           std::string(word).c_str());
    const OptionInfo& info = find_option(word.substr(0, sign));
    set_word(changed, info, std::string(word.substr(sign + 1)));
    has_prior = has_prior || is_prior_option(info);
    rest.remove_prefix(word.size());
  }
  options = changed;
  return has_prior;
}

bool is_prior_option(const OptionInfo& info) {
  constexpr std::string_view names[] = {"prior_precision", "bias_prior_precision", "prior_groups",
                                        "prior_scaling"};
  return std::ranges::find(names, info.name) != std::end(names);
}

const char* default_text(const OptionInfo& info) {
  return info.type == OptionType::choice ? choice_word(info, info.choice(Options{})) : info.default_text;
}

std::string value_text(const Options& options, const OptionInfo& info) {
  if (info.type == OptionType::choice)
    return std::string("\"") + choice_word(info, info.choice(options)) + '"';
  char text[32];
  if (info.type == OptionType::real)
    std::snprintf(text, sizeof text, "%g", options.*info.real);
  else
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(options.*info.integer));
  return text;
}

const char* choice_word(const OptionInfo& info, std::int32_t index) {
  return words_of(info).at(static_cast<std::size_t>(index)).c_str();
}

}  // namespace bdl
