#include "base/callback_message.hpp"

#include <cstdio>

namespace bdl {
namespace {

thread_local char said[256];

}  // namespace

void set_callback_message(const char* message) noexcept {
  std::snprintf(said, sizeof said, ": %s", message ? message : "");
  if (!message || !*message) said[0] = '\0';
}

void forget_callback_message() noexcept {
  said[0] = '\0';
}

const char* callback_message() noexcept {
  return said;
}

}  // namespace bdl
