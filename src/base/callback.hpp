// Callbacks of the caller's: a failure or exception of one fails the call in progress, with the callback's
// message.
#pragma once

#include <cstdint>

namespace bdl {

/// A message of the caller's, cut to 200 bytes.
class CallbackMessage {
 public:
  void set(const char* message) noexcept;
  const char* text() const noexcept { return text_; }
  /// Returns ": " if there is a text, else "".
  const char* colon() const noexcept { return *text_ ? ": " : ""; }

 private:
  char text_[201] = {};
};

/// Sets the message of the callback in progress on this thread; null for none.
void set_callback_message(const char* message) noexcept;

/// Returns that message and forgets it.
CallbackMessage remove_callback_message() noexcept;

/// Fails with ERROR_CALLBACK: "the `which` callback returned `answer``wanted`", and the callback's message.
[[noreturn]] void fail_callback(const char* which, std::int32_t answer, const char* wanted = ", expected 0");

/// Called in an exception handler: returns the message of what a callback has thrown. Lets a thread that is
/// ending end.
CallbackMessage thrown_message();

/// Fails with ERROR_CALLBACK: "the `which` callback threw an exception", and the exception's message.
[[noreturn]] void fail_thrown(const char* which, const CallbackMessage& message);

/// Calls the callback and returns its answer.
template <class Call>
std::int32_t answer_of(const char* which, Call&& call) {
  try {
    return call();
  } catch (...) {
    fail_thrown(which, thrown_message());
  }
}

/// Fails unless the callback returns 0; its message is then forgotten.
template <class Call>
void check_callback(const char* which, Call&& call) {
  if (const std::int32_t answer = answer_of(which, call); answer != 0) fail_callback(which, answer);
  set_callback_message(nullptr);
}

/// Tells the caller that its data are no longer used. Exceptions are dropped, as no call could report them.
void destroy_user_data(void (*destroy)(void* user_data), void* user_data) noexcept;

}  // namespace bdl
