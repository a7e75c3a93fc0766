#include "support/arguments.hpp"

#include <charconv>

#include "support/table.hpp"

namespace support {

Arguments::Arguments(int argc, char** argv, const std::string& usage) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_option = word.starts_with("--");
    if (!is_option && task_.empty())
      task_ = word;
    else if (is_option && usage.find("[" + word + "]") != std::string::npos)
      values_[word];
    else if (is_option && usage.find(word + " ") != std::string::npos && i + 1 < argc)
      values_[word] = argv[++i];
    else
      stop("unexpected word " + word + " in " + usage);
  }
  if (task_.empty()) stop(usage);
}

std::string Arguments::text(const std::string& option) const {
  const auto found = values_.find(option);
  if (found == values_.end()) stop(option + " is missing");
  return found->second;
}

int64_t Arguments::number(const std::string& option, int64_t otherwise) const {
  if (!has(option)) return otherwise;
  const std::string word = text(option);
  int64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 1)
    stop(option + " is a positive number, not " + word);
  return value;
}

}  // namespace support
