// libFuzzer target: any bytes are an array that lies within them, or are refused with ERROR_FORMAT.
#include "base/error.hpp"
#include "io/npy_samples.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const bdl::FileArray array = bdl::view_npy(std::as_bytes(std::span(data, size)));
    if (array.rows < 0 || array.cols < 0) __builtin_trap();
    if (array.rows == 0 || array.cols == 0) return 0;
    volatile double first = bdl::testing::element(array, 0, 0),
                    last = bdl::testing::element(array, array.rows - 1, array.cols - 1);
    (void)first, (void)last;
  } catch (const bdl::Error& error) {
    if (error.status() != bdl::Status::ERROR_FORMAT) __builtin_trap();
  }
  return 0;
}
