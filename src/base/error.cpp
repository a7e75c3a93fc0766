#include "base/error.hpp"

#include <cstdio>

namespace bdl {

Error::Error(Status status, const char* format, std::va_list arguments) noexcept : status_(status) {
  std::vsnprintf(message_, sizeof message_, format, arguments);
}

void fail(Status status, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const Error error(status, format, arguments);
  va_end(arguments);
  throw Error(error);
}

}  // namespace bdl
