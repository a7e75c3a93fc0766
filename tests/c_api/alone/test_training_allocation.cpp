// Every allocation of training fails once, by every method: the call reports it, leaks nothing, and training
// that goes on gives the results of training that never failed.
#include <climits>

#include "c_api/failing_allocator.hpp"
#include "c_api/training_starts.hpp"
#include "support/sanitized.hpp"

namespace {

constexpr long stride = bdl::testing::sanitized_stride;

void assert_out_of_memory(const char* method, bdl_status status) {
  if (status != BDL_ERROR_OUT_OF_MEMORY || !strstr(bdl_last_error(), ": out of memory"))
    fail_msg("%s gave %s (%s)", method, bdl_status_name(status), bdl_last_error());
}

/// Returns how many calls failed: by allocation k alone, for every k, or by all from every thirtieth on.
long fail_training(const char* method, const std::string& start, bool all_later) {
  const bool stream = is_stream(method);
  fuzz::Parts undisturbed;
  load_start(start, undisturbed);
  const StartData data(undisturbed.model);
  OK(train_on(stream, data, undisturbed.optimizer));
  const std::string expected = fuzz::saved(undisturbed);
  long failures = 0;
  for (long k = 1;; k += all_later ? 30 : stride, ++failures) {
    fuzz::Parts parts;
    load_start(start, parts);
    allocator::arm(k, all_later ? LONG_MAX : k);
    const bdl_status status = train_on(stream, data, parts.optimizer);
    allocator::disarm();
    if (status == BDL_OK) return failures;
    assert_out_of_memory(method, status);
    OK(train_on(stream, data, parts.optimizer));
    if (fuzz::saved(parts) != expected) fail_msg("%s, allocation %ld: other bits", method, k);
    assert_true(k < 10000);
  }
}

/// A start that fails leaves what was there.
long fail_initialization(const char* method, const std::string& start) {
  long failures = 0;
  for (long k = 1;; k += stride, ++failures) {
    fuzz::Parts parts;
    load_start(start, parts);
    allocator::arm(k, k);
    const bdl_status status = bdl_optimizer_initialize(parts.optimizer);
    allocator::disarm();
    if (status == BDL_OK) return failures;
    assert_out_of_memory(method, status);
    if (fuzz::saved(parts) != start)
      fail_msg("%s: initialisation without allocation %ld leaves something", method, k);
    assert_true(k < 10000);
  }
}

void fail_methods(const char* network) {
  long failures = 0;
  const int combinations = for_each_start(network, [&](const char* method, const std::string& start) {
    failures += fail_training(method, start, true);
    const long live = allocator::live;  // tables stay that were made when first needed
    failures += fail_training(method, start, false) + fail_initialization(method, start);
    if (allocator::live != live) fail_msg("%s leaks %ld", method, allocator::live - live);
  });
  print_message("%s: %d combinations, %ld failures\n", network, combinations, failures);
  assert_true(combinations > 20 && failures > (stride > 1 ? 500 : 1000));
}

void test_linear(void**) {
  fail_methods(linear_network);
}
void test_hidden(void**) {
  fail_methods(hidden_network);
}
void test_images(void**) {
  fail_methods(image_network);
}

}  // namespace

int test_training_allocation() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_linear), cmocka_unit_test(test_hidden),
                              cmocka_unit_test(test_images)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
