#pragma once

#include <cstdint>

namespace bdl {

/// Fails with ERROR_OUT_OF_MEMORY if this machine, or the control group of this process, cannot hold so many
/// bytes more. Linux promises memory that it does not have and ends processes later, so what is large is
/// compared before it is allocated.
void require_memory(std::uint64_t bytes);

}  // namespace bdl
