// The only exception class of the core. It owns no heap memory, so that "out of memory" can always be
// reported.
#pragma once

#include <cstdarg>
#include <exception>

namespace bdl {

enum class Status : int {
#define BDL_STATUS(name, number, meaning) name = number,
#include "base/status.def"
#undef BDL_STATUS
};

class Error : public std::exception {
 public:
  Error(Status status, const char* format, std::va_list arguments) noexcept;
  const char* what() const noexcept override { return message_; }
  Status status() const noexcept { return status_; }

 private:
  Status status_;
  char message_[400];
};

/// Throws Error with a printf-style message: "x has 2 columns, expected 3" (got, then expected).
[[noreturn]] void fail(Status status, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace bdl
