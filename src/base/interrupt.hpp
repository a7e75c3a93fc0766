// How the caller of a long call ends it (bdl_set_interrupt()). Other threads that a call uses have no caller
// to ask.
#pragma once

#include <cstdint>

namespace bdl {

/// Whom the calls of this thread ask; function 0: nobody.
void set_interrupt(std::int32_t (*function)(void* user_data), void* user_data);

/// True if the call in progress is to end. Asks at most every 20 ms, so loops may ask at every turn.
bool interrupted();

/// The same for callbacks within a call: what it has said once, interrupted() says next.
bool peek_interrupted();

/// Fails with STOPPED if so, where there is nothing completed to keep.
void check_interrupt();

}  // namespace bdl
