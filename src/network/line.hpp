// One line of a network's description: a word, then numbers and flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/shape.hpp"

namespace bdl {

/// Reads the words of a line from left to right. Its errors name the line.
class LineReader {
 public:
  LineReader(Index number, std::vector<std::string> words) : number_(number), words_(std::move(words)) {}
  Index number() const { return number_; }
  const std::string& word() const { return words_.front(); }
  bool is_at_end() const { return next_ == words_.size(); }

  /// The next word, a whole number from 1 on; `what` is its name in errors.
  Index count(const char* what);
  /// The next word, a number in [0, 1).
  double rate(const char* what);
  /// Are the next two words this name and a number in [low, high]? Then they are read; else the default.
  double setting(const char* name, double low, double high, double otherwise);
  /// Is the next word this one? Then it is read.
  bool flag(std::string_view name);
  /// Fails unless all has been read.
  void finish() const;
  /// ERROR_INVALID_ARGUMENT: "line 4: conv 16 5: ...".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const std::string& next(const char* what);
  Index number_;
  std::vector<std::string> words_;
  std::size_t next_ = 1;
};

/// The lines that say something, in order; ';' is a line end, '#' starts a comment. Fails with
/// ERROR_INVALID_ARGUMENT beyond 4096 lines, empty ones included, and a million characters.
std::vector<LineReader> read_lines(std::string_view text);

/// The shortest text that reads as this number.
std::string number_text(double value);

}  // namespace bdl
