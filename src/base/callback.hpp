// Functions of the caller's that report failure, and why.
#pragma once

#include <cstdint>
#include <string>

namespace bdl {

/// What the callback in progress on this thread says of its failure; null: nothing.
void set_callback_message(const char* message) noexcept;

/// ": " and that, or nothing: the end of a sentence about the failure. It is then forgotten.
std::string take_callback_message();

/// Fails with ERROR_CALLBACK: "the `which` callback returned `answer``wanted`", and the callback's message.
[[noreturn]] void fail_callback(const char* which, std::int32_t answer, const char* wanted = ", expected 0");

/// Fails so unless the callback has returned 0; what it has said is forgotten.
inline void check_callback(const char* which, std::int32_t answer) {
  if (answer != 0) fail_callback(which, answer);
  set_callback_message(nullptr);
}

}  // namespace bdl
