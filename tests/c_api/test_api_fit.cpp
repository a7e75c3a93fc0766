// fit, step and initialize: the same seeds give identical results; progress is reported; a stop ends the
// fit; a restart begins anew.
#include <thread>

#include "handles.hpp"
#include "training_runs.h"

namespace {

snapshot run(const variant& v, int64_t seed) {
  trained t = variant_create(&v);
  OK(bdl_optimizer_set_int(t.optimizer, "seed", seed));
  OK(variant_fit(&t, 2, nullptr, nullptr));
  const snapshot s = snapshot_of(&t);
  trained_free(&t);
  return s;
}

void test_seeds(void**) {
  for (const variant& v : variants) {
    const snapshot first = run(v, 5), again = run(v, 5), other = run(v, 6);
    assert_same_state(&first, &again);
    assert_memory_not_equal(first.mean, other.mean, sizeof first.mean);
    if (strcmp(v.rule, "map") != 0)  // whose covariance stays
      assert_memory_not_equal(first.variance, other.variance, sizeof first.variance);
  }
}

/// The whole data set as the minibatch: fit takes the steps that a loop of step() takes.
void test_step_is_fit(void**) {
  for (const variant& v : variants) {
    trained fitted = variant_create(&v), stepped = variant_create(&v);
    for (trained* t : {&fitted, &stepped}) {
      OK(bdl_optimizer_set_int(t->optimizer, "minibatch", ROWS));
      OK(bdl_optimizer_set_int(t->optimizer, "total_steps", 6));
    }
    OK(variant_fit(&fitted, 6, nullptr, nullptr));
    for (int i = 0; i < 6; ++i)
      OK(bdl_optimizer_step(stepped.optimizer, x_of(&stepped.data), y_of(&stepped.data)));
    const snapshot a = snapshot_of(&fitted), b = snapshot_of(&stepped);
    assert_int_equal(a.step, b.step);
    assert_int_equal(a.planned, b.planned);
    // fit visits the examples in another order, or some twice: sums differ by rounding, replacement by
    // examples.
    if (strcmp(v.sampling, "shuffle") == 0)
      for (int64_t i = 0; i < fitted.parameters; ++i) {
        const double rounding = v.dtype == BDL_F32 ? 1e-3 : 1e-9;
        assert_close(a.mean[i], b.mean[i], rounding * (1 + std::fabs(b.mean[i])), "mean");
        assert_close(a.variance[i], b.variance[i], rounding * b.variance[i], "variance");
      }
    trained_free(&fitted);
    trained_free(&stepped);
  }
}

struct Seen {
  trained* t;
  std::vector<int64_t> steps;
  Vector epochs;
};

/// Reads everything that a callback may read.
int32_t see(void* user_data, const bdl_optimizer* optimizer) {
  Seen& seen = *static_cast<Seen*>(user_data);
  int64_t step = 0;
  double epoch = 0, likelihood = 0, kl = 0, elbo = 0, prediction[ROWS * MOST_OUTPUTS];
  OK(bdl_optimizer_progress(optimizer, &step, nullptr, &epoch));
  OK(bdl_optimizer_running_elbo(optimizer, &likelihood, &kl));
  OK(bdl_optimizer_elbo(optimizer, x_of(&seen.t->data), y_of(&seen.t->data), 2, 1, &elbo, &kl));
  const int64_t targets = seen.t->data.targets,
                columns = bdl_model_likelihood(seen.t->model) == BDL_CATEGORICAL ? seen.t->outputs : targets;
  OK(bdl_predict(seen.t->model, seen.t->posterior, x_of(&seen.t->data), BDL_PLUG_IN, 1, 1,
                 bdl_f64_out(prediction, ROWS, columns), bdl_none_out(), bdl_none_out()));
  assert_int_equal(snapshot_of(seen.t).step, step);
  seen.steps.push_back(step);
  seen.epochs.push_back(epoch);
  return 0;
}

void test_progress(void**) {
  for (const variant& v : variants) {
    const snapshot expected = uninterrupted(&v);
    for (const int64_t every : {0, 1, 3}) {
      trained t = variant_create(&v);
      Seen seen{&t, {}, {}};
      OK(bdl_optimizer_set_int(t.optimizer, "progress_every", every));
      OK(variant_fit(&t, EPOCHS, see, &seen));
      const int64_t apart = every == 0 ? 4 : every;  // 0: once an epoch, which has four steps here
      assert_int_equal(seen.steps.size(), STEPS / apart);
      for (std::size_t i = 0; i < seen.steps.size(); ++i) {
        assert_int_equal(seen.steps[i], static_cast<int64_t>(i + 1) * apart);
        assert_true(seen.epochs[i] == static_cast<double>(seen.steps[i]) / 4);
      }
      const snapshot watched = snapshot_of(&t);
      assert_same_state(&expected, &watched);  // looking changes nothing
      trained_free(&t);
    }
  }
}

int32_t request_stop(void* user_data, const bdl_optimizer*) {
  bdl_optimizer_request_stop(static_cast<trained*>(user_data)->optimizer);
  return 0;
}

/// A stop that is requested within the callback, or before fit begins, ends fit after that step, once.
void test_request_stop(void**) {
  trained t = variant_create(&variants[0]);
  assert_int_equal(variant_fit(&t, EPOCHS, request_stop, &t), BDL_STOPPED);
  assert_int_equal(snapshot_of(&t).step, 1);
  bdl_optimizer_request_stop(t.optimizer);
  assert_int_equal(variant_fit(&t, 0, nullptr, nullptr), BDL_STOPPED);
  assert_int_equal(snapshot_of(&t).step, 2);
  OK(variant_fit(&t, 0, nullptr, nullptr));
  const snapshot expected = uninterrupted(&variants[0]), now = snapshot_of(&t);
  assert_same_state(&expected, &now);
  trained_free(&t);
}

/// A callback that both asks for a stop and answers with one stops one fit, not also the next.
int32_t stop_twice(void* user_data, const bdl_optimizer*) {
  bdl_optimizer_request_stop(static_cast<trained*>(user_data)->optimizer);
  return 1;
}

void test_one_stop_only(void**) {
  trained t = variant_create(&variants[0]);
  assert_int_equal(variant_fit(&t, EPOCHS, stop_twice, &t), BDL_STOPPED);
  OK(variant_fit(&t, 0, nullptr, nullptr));
  trained_free(&t);
}

void test_stop_from_another_thread(void**) {
  trained t = variant_create(&variants[0]);
  std::thread stopper;
  bdl_status status = BDL_OK;
  // Without the stop this would take hours.
  std::thread fitter([&] { status = variant_fit(&t, 100000000, nullptr, nullptr); });
  stopper = std::thread([&] { bdl_optimizer_request_stop(t.optimizer); });
  stopper.join();
  fitter.join();
  assert_int_equal(status, BDL_STOPPED);
  assert_true(snapshot_of(&t).step >= 1);
  trained_free(&t);
}

/// A stop after the very last step: all is done, and finishing it is no error.
void test_stop_after_the_last_step(void**) {
  const int64_t last = STEPS;
  trained t = variant_create(&variants[0]);
  const bdl_status status = variant_fit(&t, EPOCHS, stop_after, const_cast<int64_t*>(&last));
  if (status == BDL_STOPPED) OK(variant_fit(&t, 0, nullptr, nullptr));
  const snapshot expected = uninterrupted(&variants[0]), now = snapshot_of(&t);
  assert_same_state(&expected, &now);
  trained_free(&t);
}

/// initialize() forgets all training: the same course gives identical results again.
void test_restart(void**) {
  for (const variant& v : variants) {
    if (v.per_output_noise) continue;  // a noise precision that the caller has set is where learning goes on
    trained t = variant_create(&v);
    const snapshot expected = uninterrupted(&v);
    OK(variant_fit(&t, EPOCHS, nullptr, nullptr));
    OK(bdl_optimizer_initialize(t.optimizer));
    const snapshot fresh = snapshot_of(&t);
    assert_true(fresh.step == 0 && fresh.epoch == 0 && fresh.mean_shift == 0);
    OK(variant_fit(&t, EPOCHS, nullptr, nullptr));
    const snapshot again = snapshot_of(&t);
    if (memcmp(&again, &expected, sizeof again) != 0) fail_msg("variant '%s' restarts to other bits", v.name);
    trained_free(&t);
  }
}

/// A posterior that was set is where training starts: its mean is kept, not replaced by an initialisation.
void test_posterior_that_was_set(void**) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const Vector mean(MOST_PARAMETERS, 0.125), diagonal(MOST_PARAMETERS, 1e12);
  OK(bdl_posterior_set_low_rank(t.posterior, bdl_f64(mean.data(), 1, t.parameters), bdl_none(),
                                bdl_f64(diagonal.data(), 1, t.parameters)));
  OK(bdl_optimizer_step(t.optimizer, x_of(&t.data), y_of(&t.data)));
  const snapshot s = snapshot_of(&t);
  for (int64_t i = 0; i < t.parameters; ++i) assert_close(s.mean[i], 0.125, 1e-3, "mean");
  trained_free(&t);
}

}  // namespace

int test_api_fit() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_seeds),
                              cmocka_unit_test(test_step_is_fit),
                              cmocka_unit_test(test_progress),
                              cmocka_unit_test(test_request_stop),
                              cmocka_unit_test(test_one_stop_only),
                              cmocka_unit_test(test_stop_from_another_thread),
                              cmocka_unit_test(test_stop_after_the_last_step),
                              cmocka_unit_test(test_restart),
                              cmocka_unit_test(test_posterior_that_was_set)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
