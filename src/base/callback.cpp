#include "base/callback.hpp"

#include <cstring>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr std::size_t most_bytes = 200;
thread_local char callback_message[most_bytes + 1];

/// No character of UTF-8 is cut in two.
std::size_t bytes_to_keep(const char* message) {
  std::size_t size = strnlen(message, most_bytes + 1);
  if (size <= most_bytes) return size;
  for (size = most_bytes; size > 0 && (message[size] & 0xC0) == 0x80;) --size;
  return size;
}

}  // namespace

void set_callback_message(const char* message) noexcept {
  const std::size_t size = message ? bytes_to_keep(message) : 0;
  if (size > 0) std::memmove(callback_message, message, size);
  callback_message[size] = '\0';
}

std::string take_callback_message() {
  std::string message = *callback_message ? std::string(": ") + callback_message : std::string();
  set_callback_message(nullptr);
  return message;
}

void fail_callback(const char* which, std::int32_t answer, const char* wanted) {
  fail(Status::ERROR_CALLBACK, "the %s callback returned %d%s%s", which, answer, wanted,
       take_callback_message().c_str());
}

}  // namespace bdl
