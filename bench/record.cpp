#include "record.hpp"

#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace bench {

Record::Record(const std::string& line) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    set(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1));
  }
}

Record& Record::set(const std::string& key, std::string value) {
  for (auto& [known, old] : pairs_)
    if (known == key) {
      old = std::move(value);
      return *this;
    }
  pairs_.emplace_back(key, std::move(value));
  return *this;
}

Record& Record::set(const std::string& key, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return set(key, std::string(digits));
}

const std::string* Record::find(const std::string& key) const {
  for (const auto& [known, value] : pairs_)
    if (known == key) return &value;
  return nullptr;
}

const std::string& Record::text(const std::string& key) const {
  if (const std::string* value = find(key)) return *value;
  throw std::runtime_error("no " + key + " in: " + line());
}

std::string Record::line() const {
  std::string joined;
  for (const auto& [key, value] : pairs_) {
    if (!joined.empty()) joined += ' ';
    joined += key;
    if (!value.empty()) joined += '=' + value;
  }
  return joined;
}

nlohmann::ordered_json Record::json() const {
  nlohmann::ordered_json object;
  for (const auto& [key, value] : pairs_) {
    const auto number = nlohmann::ordered_json::parse(value, nullptr, false);  // discarded if it is none
    if (value.empty())
      object[key] = true;
    else if (number.is_number())
      object[key] = number;
    else
      object[key] = value;
  }
  return object;
}

}  // namespace bench
