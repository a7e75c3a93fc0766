// libFuzzer target: any bytes either load as a checkpoint that can be used and saved, or are refused.
#include "fuzz/load_any.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!fuzz::load_is_right(data, static_cast<std::int64_t>(size))) __builtin_trap();
  return 0;
}
