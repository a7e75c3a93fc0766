#include "base/callback.hpp"

#include <cxxabi.h>

#include <cstring>
#include <exception>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr std::size_t most_bytes = 200;
thread_local constinit CallbackMessage callback_message;

/// Returns how many bytes fit without cutting a UTF-8 character in two.
std::size_t bytes_to_keep(const char* message) {
  std::size_t size = strnlen(message, most_bytes + 1);
  if (size <= most_bytes) return size;
  for (size = most_bytes; size > 0 && (message[size] & 0xC0) == 0x80;) --size;
  return size;
}

}  // namespace

void CallbackMessage::set(const char* message) noexcept {
  static_assert(sizeof text_ == most_bytes + 1);
  const std::size_t size = message ? bytes_to_keep(message) : 0;
  if (size > 0) std::memmove(text_, message, size);
  text_[size] = '\0';
}

void set_callback_message(const char* message) noexcept {
  callback_message.set(message);
}

CallbackMessage remove_callback_message() noexcept {
  const CallbackMessage message = callback_message;
  callback_message.set(nullptr);
  return message;
}

void fail_callback(const char* which, std::int32_t answer, const char* wanted) {
  const CallbackMessage message = remove_callback_message();
  fail(Status::ERROR_CALLBACK, "the %s callback returned %d%s%s%s", which, answer, wanted, message.colon(),
       message.text());
}

CallbackMessage thrown_message() {
  CallbackMessage message = remove_callback_message();
  try {
    throw;
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    message.set(error.what());
  } catch (...) {
    if (!*message.text()) message.set("it is not a std::exception and has no message");
  }
  return message;
}

void fail_thrown(const char* which, const CallbackMessage& message) {
  fail(Status::ERROR_CALLBACK, "the %s callback threw an exception%s%s", which, message.colon(),
       message.text());
}

void destroy_user_data(void (*destroy)(void* user_data), void* user_data) noexcept {
  try {
    if (destroy) destroy(user_data);
  } catch (...) {  // the object is gone, and the data are the caller's
  }
}

}  // namespace bdl
