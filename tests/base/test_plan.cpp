// Plans of memory: buffers grow without memory while one counts, each by the most that is wanted of it.
#include "base/plan.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Component {
  Buffer<double> values;
  Buffer<int> numbers;
  void reserve(Index size, Index other) {
    values.reserve(size);
    numbers.reserve(other);
  }
};

void a_component_says_once_what_it_needs(void**) {
  const Index planned = bytes_to_reserve<Component>(10, 3);
  Component component;
  component.reserve(10, 3);
  assert_int_equal(planned, component.values.bytes() + component.numbers.bytes());
  assert_int_equal(planned, 10 * 8 + 3 * 4);
}

void a_buffer_counts_once_by_the_most_that_is_wanted(void**) {
  const MemoryPlan plan;
  Buffer<double> buffer;
  for (const Index size : {4, 10, 7}) buffer.reserve(size);
  assert_true(buffer.data() == nullptr);
  assert_int_equal(plan.bytes(), 80);
  MemoryPlan::add(5);
  assert_int_equal(plan.bytes(), 85);
}

void plans_within_plans_count_for_themselves(void**) {
  const MemoryPlan outer;
  assert_int_equal(bytes_to_reserve<Component>(1, 1), 12);
  assert_int_equal(outer.bytes(), 0);
  assert_true(MemoryPlan::is_active());
}

void memory_is_taken_again_after_a_plan(void**) {
  Buffer<double> held(3);
  double* const memory = held.data();
  {
    const MemoryPlan plan;
    held.reserve(10);
    assert_int_equal(plan.bytes(), 56);
    assert_true(held.data() == memory && held.capacity() == 3);  // what holds memory stays as it is
  }
  assert_false(MemoryPlan::is_active());
  held.reserve(10);
  assert_true(held.data() != nullptr && held.capacity() == 10);
}

void counts_end_where_numbers_end(void**) {
  const MemoryPlan plan;
  Buffer<double> one, other;
  one.reserve(std::numeric_limits<Index>::max() / 8);
  other.reserve(std::numeric_limits<Index>::max() / 8);
  assert_true(plan.bytes() == std::numeric_limits<Index>::max());
}

}  // namespace

int test_plan() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(a_component_says_once_what_it_needs),
      cmocka_unit_test(a_buffer_counts_once_by_the_most_that_is_wanted),
      cmocka_unit_test(plans_within_plans_count_for_themselves),
      cmocka_unit_test(memory_is_taken_again_after_a_plan),
      cmocka_unit_test(counts_end_where_numbers_end),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
