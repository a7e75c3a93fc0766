#include "fuzz/api/options.hpp"

#include <vector>

namespace fuzz {
namespace {

struct Option {
  const char* name;
  bdl_option_type type;
  const char* range;
};

const std::vector<Option>& options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> list;
    for (std::int64_t i = 0; i < bdl_option_count(); ++i) {
      Option option{};
      bdl_option_describe(i, &option.name, &option.type, nullptr, &option.range, nullptr);
      list.push_back(option);
    }
    return list;
  }();
  return all;
}

std::string words_of(const char* name) {
  for (const Option& option : options())
    if (name && option.name == std::string(name) && option.type == BDL_OPTION_CHOICE) return option.range;
  return "a | b";
}

}  // namespace

const char* option_name(Session& s, bdl_option_type type) {
  const std::size_t count = options().size(), start = s.bytes.next() % count;
  if (s.faulty())
    return s.bytes.below(3) == 0 ? nullptr : s.bytes.below(2) ? "learning_rat" : options()[start].name;
  for (std::size_t k = 0; k < count; ++k)
    if (options()[(start + k) % count].type == type) return options()[(start + k) % count].name;
  return "";
}

std::string choice_word(Session& s, const char* name) {
  if (s.faulty()) return s.bytes.below(2) ? "" : "nonsense";
  const std::string words = words_of(name);
  std::vector<std::string> list;
  for (std::size_t from = 0; from != std::string::npos;) {
    const std::size_t bar = words.find(" | ", from);
    list.push_back(words.substr(from, bar == std::string::npos ? bar : bar - from));
    from = bar == std::string::npos ? bar : bar + 3;
  }
  return list[static_cast<std::size_t>(s.bytes.below(static_cast<std::int64_t>(list.size())))];
}

std::string option_text(Session& s) {
  static constexpr const char* numbers[] = {"0",  "1",     "2",      "0.1", "0.9", "1e-3", "nan",
                                            "-1", "1e999", "0x1p-3", "",    "1e6", "2.5"};
  std::string text;
  for (std::int64_t n = s.bytes.below(4); n >= 0; --n) {
    const Option& option = options()[s.bytes.next() % options().size()];
    text += (s.faulty() ? "x" : "") + std::string(option.name) + (s.faulty() ? "" : "=");
    text += option.type == BDL_OPTION_CHOICE ? choice_word(s, option.name) : s.bytes.one_of(numbers);
    text += " ";
  }
  return text;
}

}  // namespace fuzz
