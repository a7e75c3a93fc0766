// The lines of a network's description: a word, then numbers, then flags and named numbers in any order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/shape.hpp"

namespace bdl {

/// Reads the words of a line. Its errors name the line.
class LineReader {
 public:
  LineReader(Index number, std::vector<std::string> words)
      : number_(number), words_(std::move(words)), is_read_(words_.size()) {
    is_read_.front() = true;
  }
  Index number() const { return number_; }
  const std::string& word() const { return words_.front(); }
  bool is_at_end() const { return next() == words_.size(); }

  /// Reads the next word, a whole number from 1 on; `what` is its name in errors.
  Index count(const char* what);
  /// Reads the next word, a number in [0, 1).
  double rate(const char* what);
  /// True if this word is among those that follow, which reads it.
  bool flag(std::string_view name);
  /// Returns the whole number, from `least` on, after this word; `otherwise` without the word.
  Index named(std::string_view name, Index least, Index otherwise);
  /// Returns the number in [low, high] after this word; `otherwise` without the word.
  double named_number(std::string_view name, double low, double high, double otherwise);
  /// Fails unless all words have been read.
  void finish() const;
  /// Fails with ERROR_INVALID_ARGUMENT: "line 4 of the description: conv 16 5: ...".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::size_t next() const;
  const std::string& read(const char* what);
  Index whole(const std::string& what, const std::string& word, Index least) const;
  const std::string* read_after(std::string_view name);
  Index number_;
  std::vector<std::string> words_;
  std::vector<bool> is_read_;
};

/// Returns the lines that are not empty; ';' ends a line, '#' starts a comment. Fails with
/// ERROR_INVALID_ARGUMENT beyond 4096 lines, empty ones included, or a million characters.
std::vector<LineReader> read_lines(std::string_view text);

/// Returns the shortest text that reads as this number.
std::string number_text(double value);

}  // namespace bdl
