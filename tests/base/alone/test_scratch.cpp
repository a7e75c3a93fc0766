// Scratch memory: what is taken stays where it is until its frame ends, and a repeated computation allocates
// nothing.
#include <cstdint>

#include "base/scratch.hpp"
#include "support/counting_allocator.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Takes three arrays in two frames; true if the third one is where the second one was.
bool compute(Scratch& scratch, Index size) {
  const Scratch::Frame outer(scratch);
  const auto first = scratch.take<double>(size);
  std::ranges::fill(first, 1.0);
  const double* inner_data = nullptr;
  {
    const Scratch::Frame inner(scratch);
    const auto matrix = scratch.matrix<double>(size, 3);
    std::fill_n(matrix.data, matrix.size(), 2.0);
    inner_data = matrix.data;
  }
  const auto again = scratch.take<double>(size);
  std::ranges::fill(again, 3.0);
  for (const double value : first) assert_true(value == 1.0);
  return again.data() == inner_data;
}

void frames_give_back_in_reverse_order(void**) {
  Scratch scratch;
  for (const Index size : {0, 1, 5, 100}) compute(scratch, size);
  assert_true(compute(scratch, 100));
}

void memory_is_aligned(void**) {
  Scratch scratch;
  const Scratch::Frame frame(scratch);
  for (const Index count : {1, 3, 64, 65})
    assert_int_equal(reinterpret_cast<std::uintptr_t>(scratch.take<std::byte>(count).data()) % 64, 0);
}

void a_repeated_computation_allocates_nothing(void**) {
  Scratch scratch;
  compute(scratch, 1000);
  const Index held = scratch.bytes();
  assert_int_equal(held, 1000 * (8 + 24));
  const std::size_t before = counting::calls;
  for (int k = 0; k < 3; ++k) compute(scratch, 1000);
  compute(scratch, 7);
  assert_int_equal(counting::calls, before);
  assert_int_equal(scratch.bytes(), held);
}

void sizes_that_overflow_are_refused(void**) {
  Scratch scratch;
  const Scratch::Frame frame(scratch);
  bool refused = false;
  try {
    scratch.matrix<double>(INT64_MAX / 2, 4);
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  assert_true(refused);
}

}  // namespace

int test_scratch() {
  const CMUnitTest tests[] = {cmocka_unit_test(frames_give_back_in_reverse_order),
                              cmocka_unit_test(memory_is_aligned),
                              cmocka_unit_test(a_repeated_computation_allocates_nothing),
                              cmocka_unit_test(sizes_that_overflow_are_refused)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
