// Functions of the caller's: what they throw or answer is a failure of the call in progress, told in their
// words.
#pragma once

#include <cstdint>

namespace bdl {

/// A sentence of the caller's, cut to 200 bytes.
class CallbackMessage {
 public:
  void set(const char* message) noexcept;
  const char* text() const noexcept { return text_; }
  /// ": " before a text, nothing before none.
  const char* colon() const noexcept { return *text_ ? ": " : ""; }

 private:
  char text_[201] = {};
};

/// What the callback in progress on this thread says of its failure; null: nothing.
void set_callback_message(const char* message) noexcept;

/// That message, which is then forgotten.
CallbackMessage take_callback_message() noexcept;

/// Fails with ERROR_CALLBACK: "the `which` callback returned `answer``wanted`", and the callback's message.
[[noreturn]] void fail_callback(const char* which, std::int32_t answer, const char* wanted = ", expected 0");

/// Within a handler of anything that a callback has thrown: its words. A thread that is ending goes on to
/// end.
CallbackMessage thrown_message();

/// Fails with ERROR_CALLBACK: "the `which` callback threw an exception", and the exception's words.
[[noreturn]] void fail_thrown(const char* which, const CallbackMessage& message);

/// Returns what the callback answers.
template <class Call>
std::int32_t answer_of(const char* which, Call&& call) {
  try {
    return call();
  } catch (...) {
    fail_thrown(which, thrown_message());
  }
}

/// Fails unless the callback returns 0; what it has said is forgotten.
template <class Call>
void check_callback(const char* which, Call&& call) {
  if (const std::int32_t answer = answer_of(which, call); answer != 0) fail_callback(which, answer);
  set_callback_message(nullptr);
}

/// Tells the caller that its data are no longer used. There is no call that could report what this throws.
void destroy_user_data(void (*destroy)(void* user_data), void* user_data) noexcept;

}  // namespace bdl
