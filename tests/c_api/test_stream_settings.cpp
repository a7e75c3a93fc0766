// Settings that streams keep for the caller, and numbers that only a double can hold.
#include "stream_runs.hpp"

namespace {

/// The caller's data are given back once: when other draws come, or with the optimizer.
void test_destroyed_draws(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::diagonal);
  int destroyed = 0;
  const auto draws = [](void*, bdl_draw_kind, int64_t, int64_t, const bdl_posterior*, bdl_matrix_out) {
    return 1;
  };
  const auto destroy = [](void* count) { ++*static_cast<int*>(count); };
  OK(bdl_optimizer_set_draws(learner.optimizer.get(), draws, &destroyed, destroy));
  assert_int_equal(destroyed, 0);
  OK(bdl_optimizer_set_draws(learner.optimizer.get(), draws, &destroyed, destroy));
  assert_int_equal(destroyed, 1);
  learner.optimizer.reset();
  assert_int_equal(destroyed, 2);
}

/// Means that a transition carries out of float's range; targets that only a double holds.
void test_range_of_floats(void**) {
  for (const StreamFamily family : stream_families) {
    StreamLearner learner(BDL_GAUSSIAN, family, "bong", BDL_F32);
    learner.observe(0, 1);
    learner.set("transition", 1e3);
    learner.set("forgetting", 1.0);
    const std::string before = learner.state();
    assert_int_equal(bdl_optimizer_forecast(learner.optimizer.get(), 14), BDL_ERROR_DIVERGED);
    assert_true(learner.state() == before);
    learner.data.y[learner.data.targets] = 1e39;
    assert_int_equal(
        bdl_optimizer_observe(learner.optimizer.get(), learner.x(1, 1), learner.y(1, 1), bdl_none_out()),
        BDL_ERROR_NOT_FINITE);
    assert_true(learner.state() == before);
  }
}

/// No noise per parameter any more: the option counts again.
void test_noise_by_option_again(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::diagonal), other(BDL_GAUSSIAN, StreamFamily::diagonal);
  const double large = 10;
  OK(bdl_optimizer_set_process_noise(learner.optimizer.get(), bdl_f64(&large, 1, 1)));
  OK(bdl_optimizer_set_process_noise(learner.optimizer.get(), bdl_none()));
  for (StreamLearner* each : {&learner, &other}) {
    each->set("process_noise", 0.1);
    each->observe(0, 3);
  }
  assert_true(learner.state() == other.state());
}

}  // namespace

int test_stream_settings() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_destroyed_draws), cmocka_unit_test(test_range_of_floats),
                              cmocka_unit_test(test_noise_by_option_again)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
