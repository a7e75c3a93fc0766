// What a failing callback of the caller's says about its failure (bdl_set_callback_message()).
#pragma once

namespace bdl {

/// Of the callback that this thread is in; too long ones are cut.
void set_callback_message(const char* message) noexcept;

/// Before a callback is called: it has said nothing yet.
void forget_callback_message() noexcept;

/// ": " and what it has said, or "": the end of a sentence about its failure.
const char* callback_message() noexcept;

}  // namespace bdl
