// libFuzzer target: any text either describes a network, whose canonical text describes the same, or is
// refused with ERROR_INVALID_ARGUMENT; of what is not too large, an example goes forward and back.
#include "fuzz/describe_any.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!fuzz::description_is_right({reinterpret_cast<const char*>(data), size})) __builtin_trap();
  return 0;
}
