#include "network/line.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr Index most_lines = 4096;
constexpr std::size_t longest_shown = 60, longest_text = 1'000'000;

std::vector<std::string> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\f\v";
  std::vector<std::string> words;
  for (;;) {
    const std::size_t first = line.find_first_not_of(blanks);
    if (first == std::string_view::npos) return words;
    const std::size_t last = std::min(line.find_first_of(blanks, first), line.size());
    words.emplace_back(line.substr(first, last - first));
    line.remove_prefix(last);
  }
}

/// Calls visit(text) for each of the texts between separators.
template <class Visit>
void for_each_between(std::string_view text, char separator, Visit&& visit) {
  for (;;) {
    const std::size_t end = text.find(separator);
    visit(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// True if the word is a number that the type holds, and nothing else.
template <class Number>
bool read_number(const std::string& word, Number& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

void LineReader::fail(const std::string& what) const {
  std::string line;
  for (const std::string& word : words_) line += (line.empty() ? "" : " ") + word;
  if (line.size() > longest_shown) line = line.substr(0, longest_shown) + "...";
  bdl::fail(Status::ERROR_INVALID_ARGUMENT, "line %lld of the description: %s: %s",
            static_cast<long long>(number_), line.c_str(), what.c_str());
}

/// Returns the number of the first word that has not been read.
std::size_t LineReader::next() const {
  return static_cast<std::size_t>(std::ranges::find(is_read_, false) - is_read_.begin());
}

const std::string& LineReader::read(const char* what) {
  const std::size_t word = next();
  if (word == words_.size()) fail(std::string(what) + " is missing");
  is_read_[word] = true;
  return words_[word];
}

const std::string* LineReader::read_after(std::string_view name) {
  for (std::size_t word = next(); word < words_.size(); ++word) {
    if (is_read_[word] || words_[word] != name) continue;
    if (word + 1 == words_.size() || is_read_[word + 1])
      fail("the number after " + words_[word] + " is missing");
    is_read_[word] = is_read_[word + 1] = true;
    return &words_[word + 1];
  }
  return nullptr;
}

Index LineReader::whole(const std::string& what, const std::string& word, Index least) const {
  Index value = 0;
  if (!read_number(word, value) || value < least || value > INT32_MAX)
    fail(what + " is \"" + word.substr(0, longest_shown) + "\", expected " + std::to_string(least) +
         " to 2147483647");
  return value;
}

Index LineReader::count(const char* what) {
  return whole(what, read(what), 1);
}

double LineReader::rate(const char* what) {
  const std::string& word = read(what);
  double value = 0;
  if (!read_number(word, value) || !(value >= 0 && value < 1))
    fail(std::string(what) + " is \"" + word.substr(0, longest_shown) + "\", expected [0, 1)");
  return value;
}

bool LineReader::flag(std::string_view name) {
  for (std::size_t word = next(); word < words_.size(); ++word) {
    if (is_read_[word] || words_[word] != name) continue;
    is_read_[word] = true;
    return true;
  }
  return false;
}

Index LineReader::named(std::string_view name, Index least, Index otherwise) {
  const std::string* word = read_after(name);
  return word ? whole(std::string(name), *word, least) : otherwise;
}

double LineReader::named_number(std::string_view name, double low, double high, double otherwise) {
  const std::string* word = read_after(name);
  if (!word) return otherwise;
  double value = 0;
  if (!read_number(*word, value) || !(value >= low && value <= high))
    fail(std::string(name) + " is \"" + word->substr(0, longest_shown) + "\", expected " + number_text(low) +
         " to " + number_text(high));
  return value;
}

void LineReader::finish() const {
  if (!is_at_end()) fail("\"" + words_[next()].substr(0, longest_shown) + "\" is not expected here");
}

std::vector<LineReader> read_lines(std::string_view text) {
  if (text.size() > longest_text)
    bdl::fail(Status::ERROR_INVALID_ARGUMENT, "the description has %zu characters, expected at most %zu",
              text.size(), longest_text);
  std::vector<LineReader> lines;
  Index number = 0;
  const auto read = [&](std::string_view line) {
    if (++number > most_lines)
      bdl::fail(Status::ERROR_INVALID_ARGUMENT, "the description has more than %lld lines",
                static_cast<long long>(most_lines));
    std::vector<std::string> words = words_of(line);
    if (!words.empty()) lines.emplace_back(number, std::move(words));
  };
  for_each_between(text, '\n', [&](std::string_view line) {
    for_each_between(line.substr(0, line.find('#')), ';', read);
  });
  return lines;
}

std::string number_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

std::string shape_text(const Shape& shape) {
  std::string text = std::to_string(shape.channels);
  if (shape.is_image()) text += " x " + std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
  return text;
}

}  // namespace bdl
