// Every allocation of every call fails once: the call reports it, leaks nothing, leaves its handles as they
// were, and works when memory is back.
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "c_api/allocation_cases.hpp"
#include "c_api/failing_allocator.hpp"
#include "support/sanitized.hpp"

namespace {

struct Setting {
  bdl_dtype dtype;
  int64_t rank;
  bool blank;
  const char *eigen_method, *rule = "blr";
};
constexpr Setting settings[] = {{BDL_F64, 2, true, "automatic"},
                                {BDL_F64, 2, false, "randomized"},
                                {BDL_F32, 2, false, "gram"},
                                {BDL_F64, 2, false, "outer"},
                                {BDL_F32, 0, true, "automatic"},
                                {BDL_F64, FULL, false, "automatic"},
                                {BDL_F64, 0, true, "automatic", "bbb"},
                                {BDL_F32, 0, false, "automatic", "bbb"}};

trained make(const Setting& s) {
  trained t = s.blank ? untrained_create(s.dtype, BDL_GAUSSIAN, s.rank)
                      : trained_create(s.dtype, BDL_GAUSSIAN, s.rank);
  OK(bdl_optimizer_set_choice(t.optimizer, "eigen_method", s.eigen_method));
  OK(bdl_optimizer_set_choice(t.optimizer, "rule", s.rule));
  if (strcmp(s.rule, "bbb") == 0) {
    OK(bdl_optimizer_set_choice(t.optimizer, "curvature", "mc-reparam"));
    OK(bdl_optimizer_set_choice(t.optimizer, "descent", "adam"));
  }
  const std::vector<double> noise(static_cast<std::size_t>(bdl_posterior_dimension(t.posterior)), 0.1);
  OK(bdl_optimizer_set_process_noise(t.optimizer, bdl_f64(noise.data(), 1, std::ssize(noise))));
  return t;
}

/// Returns the state after the call if no allocation fails.
snapshot undisturbed(const Case& c, const Setting& s) {
  trained t = make(s);
  OK(c.call(t));
  const snapshot after = snapshot_of(&t);
  trained_free(&t);
  return after;
}

void assert_reported(const Case& c, bdl_status status) {
  if (status != BDL_ERROR_OUT_OF_MEMORY)
    fail_msg("%s gave %s (%s)", c.function, bdl_status_name(status), bdl_last_error());
  if (strncmp(bdl_last_error(), c.function, strlen(c.function)) != 0 ||
      !strstr(bdl_last_error(), "out of memory"))
    fail_msg("%s reported \"%s\"", c.function, bdl_last_error());
}

/// Fails allocation k = 1, 2, ..., alone or with all later ones, until the call makes fewer than k. Returns
/// how often. Under sanitizers k takes larger strides if all later ones fail, too.
long fail_each(const Case& c, const Setting& s, bool all_later, bool may_keep_memory) {
  const long live_before = allocator::live;
  trained t = make(s);
  const snapshot before = snapshot_of(&t);
  const snapshot expected = undisturbed(c, s);
  const long stride = all_later ? bdl::testing::sanitized_stride : 1;
  long failures = -1;
  bdl_status status = BDL_ERROR_INTERNAL;
  for (long k = 1; status != BDL_OK; k += stride, ++failures) {
    const long live = allocator::live;
    allocator::arm(k, all_later ? LONG_MAX : k);
    status = c.call(t);
    allocator::disarm();
    if (status != BDL_OK) assert_reported(c, status);
    const snapshot now = snapshot_of(&t);
    const snapshot& wanted = status == BDL_OK ? expected : before;
    if (memcmp(&now, &wanted, sizeof now) != 0) fail_msg("%s, allocation %ld: wrong state", c.function, k);
    if (!may_keep_memory) assert_int_equal(allocator::live, live);
    assert_true(k < 10000);
  }
  trained_free(&t);
  if (allocator::live != live_before) fail_msg("%s leaks %ld", c.function, allocator::live - live_before);
  return failures;
}

template <std::size_t count>
void fail_all(const Case (&cases)[count], bool may_keep_memory) {
  long failures = 0;
  for (const Setting& s : settings)
    for (const Case& c : cases)
      for (const bool all_later : {false, true})
        if (!(s.blank && c.needs_mean)) failures += fail_each(c, s, all_later, may_keep_memory);
  assert_true(failures > 100);  // libbdl does call this program's operator new
}

void test_creations(void**) {
  fail_all(creations, false);
}
void test_readings(void**) {
  fail_all(readings, false);
}
void test_changes(void**) {
  fail_all(changes, true);
}

/// Each allocation of a predictor's first call fails once: the next call answers.
void test_predictors(void**) {
  for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED_MONTE_CARLO, BDL_LINEARIZED}) {
    trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
    const long live = allocator::live;
    bdl_status status = BDL_ERROR_INTERNAL;
    for (long k = 1; status != BDL_OK; ++k) {
      bdl_predictor* predictor = nullptr;
      OK(bdl_predictor_create(t.model, t.posterior, method, 3, 1, &predictor));
      double mean[8], got[8];
      const auto predict = [&] {
        return bdl_predictor_moments(predictor, in(4, 2), bdl_f64_out(got, 4, 2), {}, {});
      };
      allocator::arm(k, k);
      status = predict();
      allocator::disarm();
      if (status != BDL_OK) assert_reported({"bdl_predictor_moments", nullptr}, status);
      OK(predict());
      OK(bdl_predict(t.model, t.posterior, in(4, 2), method, 3, 1, bdl_f64_out(mean, 4, 2), bdl_none_out(),
                     bdl_none_out()));
      assert_true(std::ranges::equal(got, mean));
      bdl_predictor_free(predictor);
      assert_int_equal(allocator::live, live);
      assert_true(k < 1000);
    }
    trained_free(&t);
  }
}

/// More than any machine has.
void test_too_large(void**) {
  bdl_posterior* q = nullptr;
  assert_int_equal(bdl_posterior_create_full(BDL_F64, 1 << 22, &q), BDL_ERROR_OUT_OF_MEMORY);
  assert_int_equal(bdl_posterior_create_low_rank(BDL_F64, 1 << 22, 1 << 22, &q), BDL_ERROR_OUT_OF_MEMORY);
  assert_null(q);
  const int64_t wide[] = {100, 100, 1};
  bdl_model* model = nullptr;
  bdl_predictor* predictor = nullptr;
  OK(bdl_model_create_mlp(BDL_F64, wide, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 0, &q));
  assert_int_equal(bdl_predictor_create(model, q, BDL_MONTE_CARLO, INT64_C(1) << 31, 1, &predictor),
                   BDL_ERROR_OUT_OF_MEMORY);
  assert_null(predictor);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

int setup(void**) {
  for (double& one : ones) one = 1;
  const int file = mkstemp(path);
  if (file < 0 || close(file) != 0) return -1;
  // The first description builds tables that stay: here every allocation of theirs fails once.
  bdl_status status = BDL_ERROR_OUT_OF_MEMORY;
  for (long k = 1; status == BDL_ERROR_OUT_OF_MEMORY; ++k) {
    allocator::arm(k, k);
    status = bdl_option_describe(2, nullptr, nullptr, nullptr, nullptr, nullptr);
    allocator::disarm();
  }
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  OK(bdl_save(path, nullptr, nullptr, t.optimizer));
  trained_free(&t);
  return status;
}

int teardown(void**) {
  return unlink(path);
}

}  // namespace

int test_allocation_failure() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_creations), cmocka_unit_test(test_readings),
                              cmocka_unit_test(test_changes), cmocka_unit_test(test_predictors),
                              cmocka_unit_test(test_too_large)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
