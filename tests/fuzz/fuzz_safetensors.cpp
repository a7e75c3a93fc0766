// libFuzzer target: any bytes either parse into a consistent archive or are refused with ERROR_FORMAT.
#include "base/error.hpp"
#include "io/archive_samples.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const bdl::TensorArchive archive = bdl::parse_archive({bytes.begin(), bytes.end()});
    if (!bdl::testing::accepted_is_consistent(archive)) __builtin_trap();
  } catch (const bdl::Error& error) {
    if (error.status() != bdl::Status::ERROR_FORMAT) __builtin_trap();
  }
  return 0;
}
