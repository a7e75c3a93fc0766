#include "io/record.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "model/network.hpp"

namespace bdl {
namespace {

/// Parses all of the text as a number.
template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Index parse_in_range(const std::string& key, std::string_view text, Index low, Index high) {
  Index value = 0;
  if (!parse(text, value) || value < low || value > high)
    fail(Status::ERROR_FORMAT, "field %s is not an integer from %lld to %lld", key.c_str(),
         static_cast<long long>(low), static_cast<long long>(high));
  return value;
}

}  // namespace

void RecordWriter::integers(const std::string& key, std::span<const Index> values) {
  std::string text;
  for (const Index value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  metadata_[key] = std::move(text);
}

void RecordWriter::real(const std::string& key, double value) {
  char text[64];
  const auto result = std::to_chars(text, text + sizeof text, value);
  metadata_[key] = std::string(text, result.ptr);
}

const std::string& RecordReader::text(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) fail(Status::ERROR_FORMAT, "field %s is missing", key.c_str());
  return found->second;
}

Index RecordReader::integer(const std::string& key, Index low, Index high) const {
  return parse_in_range(key, text(key), low, high);
}

double RecordReader::real(const std::string& key) const {
  const double value = sum(key);
  if (!std::isfinite(value)) fail(Status::ERROR_FORMAT, "field %s is not a finite number", key.c_str());
  return value;
}

double RecordReader::sum(const std::string& key) const {
  double value = 0;
  if (!parse(text(key), value) || std::isnan(value))
    fail(Status::ERROR_FORMAT, "field %s is not a number", key.c_str());
  return value;
}

Index RecordReader::word(const std::string& key, std::span<const char* const> words) const {
  const auto found = std::ranges::find(words, text(key));
  if (found == words.end()) fail(Status::ERROR_FORMAT, "field %s has an unknown value", key.c_str());
  return found - words.begin();
}

std::vector<Index> RecordReader::integers(const std::string& key, Index low, Index high) const {
  std::vector<Index> values;
  std::string_view rest = text(key);
  while (true) {
    const std::size_t space = rest.find(' ');
    values.push_back(parse_in_range(key, rest.substr(0, space), low, high));
    if (space == rest.npos) return values;
    rest.remove_prefix(space + 1);
  }
}

std::vector<Index> RecordReader::layer_sizes(const std::string& key) const {
  constexpr std::size_t text_limit = 65536;  // thousands of layers, and little memory
  if (text(key).size() > text_limit) fail(Status::ERROR_FORMAT, "field %s is too long", key.c_str());
  std::vector<Index> sizes = integers(key, 1, INT32_MAX);
  if (sizes.size() < 2) fail(Status::ERROR_FORMAT, "field %s has no layer", key.c_str());
  if (count_parameters(sizes) < 0)
    fail(Status::ERROR_FORMAT, "field %s gives too many parameters", key.c_str());
  return sizes;
}

const std::vector<Index>& RecordReader::shape(const std::string& name, std::size_t rank) const {
  const std::vector<Index>& shape = archive_->at(name).shape;
  if (shape.size() != rank)
    fail(Status::ERROR_FORMAT, "tensor %s has %zu dimensions, expected %zu", name.c_str(), shape.size(),
         rank);
  return shape;
}

template <class T>
void RecordReader::vector(const std::string& name, std::span<T> out, Numbers numbers) const {
  archive_->copy<T>(name, {static_cast<Index>(out.size())}, out);
  const auto check = [&](auto is_good, const char* fault) {
    if (!std::ranges::all_of(out, is_good)) fail(Status::ERROR_FORMAT, "tensor %s %s", name.c_str(), fault);
  };
  check([](T value) { return std::isfinite(value); }, "is not finite");
  if (numbers == Numbers::positive) check([](T value) { return value > 0; }, "is not positive");
  if (numbers == Numbers::not_negative) check([](T value) { return !(value < 0); }, "has a negative value");
}

template void RecordReader::vector(const std::string&, std::span<float>, Numbers) const;
template void RecordReader::vector(const std::string&, std::span<double>, Numbers) const;

}  // namespace bdl
