// libFuzzer target: any sequence of calls of the public API keeps the promises of bdl.h. -coverage=1 is no
// option of libFuzzer's: set BDL_FUZZ_COVERAGE to have the calls of each function printed in the end.
#define BDL_TEST_ALONE

#include <cstdlib>

#include "c_api/failing_allocator.hpp"
#include "fuzz/api/calls.hpp"
#include "fuzz/api/sequence.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  allocator::largest = std::size_t(1) << 28;  // no call needs more; libFuzzer ends where one asks for it
  if (std::getenv("BDL_FUZZ_COVERAGE")) std::atexit(fuzz::print_coverage);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check_sequence(data, size);
  return 0;
}
