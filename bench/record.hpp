// One line of the report: key=value pairs in their order. Cases get their parameters, and hand back what they
// measured, in the same form.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class Record {
 public:
  Record() = default;
  /// Words separated by spaces; a word without "=" is a key without value.
  explicit Record(const std::string& line);

  Record& set(const std::string& key, std::string value);
  Record& set(const std::string& key, const char* value) { return set(key, std::string(value)); }
  Record& set(const std::string& key, double value);  ///< six significant digits
  Record& set(const std::string& key, std::int64_t value) { return set(key, std::to_string(value)); }

  bool has(const std::string& key) const { return find(key) != nullptr; }
  /// The following throw if the key is not there.
  const std::string& text(const std::string& key) const;
  double number(const std::string& key) const { return std::stod(text(key)); }
  std::int64_t integer(const std::string& key) const { return std::stoll(text(key)); }

  std::string line() const;
  nlohmann::ordered_json json() const;

 private:
  const std::string* find(const std::string& key) const;
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace bench
