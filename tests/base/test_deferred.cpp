// A value that is computed when it is first read, also by several threads at once.
#include <atomic>
#include <thread>
#include <vector>

#include "base/deferred.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

void one_thread_computes_what_all_read(void**) {
  for (int repetition = 0; repetition < 200; ++repetition) {
    Deferred deferred(true);
    std::atomic<int> computed{0};
    int value = 0;
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
      threads.emplace_back([&] {
        deferred.settle([&] {
          ++computed;
          value = 7;
        });
        assert_int_equal(value, 7);
      });
    for (std::thread& thread : threads) thread.join();
    assert_int_equal(computed, 1);
    assert_false(deferred.is_due());
  }
}

/// As an interrupt callback does that reads a posterior while its factor is computed.
void reading_what_one_computes_is_refused(void**) {
  Deferred deferred(true);
  deferred.settle([&] {
    expect_error(Status::ERROR_INVALID_ARGUMENT, "in use by the call in progress",
                 [&] { deferred.settle([] {}); });
  });
  assert_false(deferred.is_due());
}

void a_failure_leaves_it_due(void**) {
  Deferred deferred(true), other(false);
  bool computed = true;
  try {
    deferred.settle([] { throw 1; });
  } catch (int) {
    computed = false;
  }
  assert_false(computed);
  assert_true(deferred.is_due());
  deferred.swap(other);
  assert_true(other.is_due() && !deferred.is_due());
  other.settle([] {});
  assert_false(other.is_due());
}

}  // namespace

int test_deferred() {
  const CMUnitTest tests[] = {cmocka_unit_test(one_thread_computes_what_all_read),
                              cmocka_unit_test(reading_what_one_computes_is_refused),
                              cmocka_unit_test(a_failure_leaves_it_due)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
