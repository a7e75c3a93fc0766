#include "options/options.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr OptionInfo all_options[] = {
#define BDL_DOUBLE(name, value, low, high, range, doc) \
  {#name, OptionType::real, #value, range, doc, low, high, &Options::name, nullptr, nullptr},
#define BDL_INT(name, value, low, high, range, doc)                                                       \
  {#name,   OptionType::integer, #value, range, doc, static_cast<double>(low), static_cast<double>(high), \
   nullptr, &Options::name,      nullptr},
#define BDL_CHOICE(name, value, words, doc) \
  {#name, OptionType::choice, nullptr, words, doc, 0, 0, nullptr, nullptr, &Options::name},
#include "options/options.def"
#undef BDL_DOUBLE
#undef BDL_INT
#undef BDL_CHOICE
};
constexpr std::size_t option_count = std::size(all_options);

/// The words of all choices as separate static strings.
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

/// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

const char* type_name(OptionType type) {
  return type == OptionType::real ? "a real number" : type == OptionType::integer ? "an integer" : "a choice";
}

}  // namespace

std::span<const OptionInfo> option_table() {
  return all_options;
}

const OptionInfo& find_option(const char* name, OptionType type) {
  const auto infos = option_table();
  for (const OptionInfo& info : infos) {
    if (std::strcmp(info.name, name) != 0) continue;
    if (info.type != type)
      fail(Status::ERROR_INVALID_ARGUMENT, "option \"%s\" is %s, not %s", info.name, type_name(info.type),
           type_name(type));
    return info;
  }
  const std::string_view wanted = std::string_view(name).substr(0, 60);
  const auto nearest = std::ranges::min_element(
      infos, {}, [&](const OptionInfo& info) { return distance(wanted, info.name); });
  fail(Status::ERROR_UNKNOWN_OPTION, "no option \"%.60s\", did you mean \"%s\"?", name, nearest->name);
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
  options.*info.choice = static_cast<std::int32_t>(found - words.begin());
}

bool is_prior_option(const OptionInfo& info) {
  return info.real == &Options::prior_precision || info.real == &Options::bias_prior_precision ||
         info.choice == &Options::prior_groups || info.choice == &Options::prior_scaling;
}

const char* default_text(const OptionInfo& info) {
  return info.type == OptionType::choice ? choice_word(info, Options{}.*info.choice) : info.default_text;
}

const char* choice_word(const OptionInfo& info, std::int32_t index) {
  return words_of(info).at(static_cast<std::size_t>(index)).c_str();
}

}  // namespace bdl
