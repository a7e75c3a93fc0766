/* Training that was interrupted, or saved and loaded, goes on to the results of training that never
 * stopped. */
#include <unistd.h>

#include "training_runs.h"

static char path[] = "/tmp/bdl-resume-XXXXXX";

static int setup(void** state) {
  const int file = mkstemp(path);
  (void)state;
  return file < 0 ? -1 : close(file);
}

static int teardown(void** state) {
  (void)state;
  return unlink(path);
}

static void assert_resumed(const variant* v, const snapshot* expected, const trained* t) {
  const snapshot now = snapshot_of(t);
  if (memcmp(&now, expected, sizeof now) != 0) fail_msg("variant '%s' resumed to other bits", v->name);
}

static void test_stopped_after_any_step(void** state) {
  (void)state;
  for (int k = 0; k < VARIANTS; ++k) {
    const snapshot expected = uninterrupted(&variants[k]);
    for (int64_t last = 1; last < STEPS; ++last) {
      trained t = variant_create(&variants[k]);
      int64_t step = 0;
      assert_int_equal(variant_fit(&t, EPOCHS, stop_after, &last), BDL_STOPPED);
      OK(bdl_optimizer_progress(t.optimizer, &step, NULL, NULL));
      assert_int_equal(step, last);
      OK(variant_fit(&t, 0, NULL, NULL));
      assert_resumed(&variants[k], &expected, &t);
      assert_int_equal(variant_fit(&t, 0, NULL, NULL),
                       BDL_ERROR_INVALID_ARGUMENT); /* nothing is left to finish */
      trained_free(&t);
    }
  }
}

static void test_stopped_again_and_again(void** state) {
  const int64_t every = 3;
  (void)state;
  for (int k = 0; k < VARIANTS; ++k) {
    const snapshot expected = uninterrupted(&variants[k]);
    trained t = variant_create(&variants[k]);
    bdl_status status = variant_fit(&t, EPOCHS, stop_every, (void*)&every);
    int stops = 0;
    for (; status == BDL_STOPPED; ++stops) status = variant_fit(&t, 0, stop_every, (void*)&every);
    OK(status);
    assert_int_equal(stops, STEPS / 3);
    assert_resumed(&variants[k], &expected, &t);
    trained_free(&t);
  }
}

/* Everything in memory goes; only the file stays. */
static void reload(trained* t) {
  OK(bdl_save(path, NULL, NULL, t->optimizer));
  trained_free(t);
  OK(bdl_load(path, NULL, &t->model, &t->posterior, &t->optimizer));
}

static void test_reloaded_every_third_step(void** state) {
  const int64_t every = 3;
  (void)state;
  for (int k = 0; k < VARIANTS; ++k) {
    const snapshot expected = uninterrupted(&variants[k]);
    trained t = variant_create(&variants[k]);
    bdl_status status = variant_fit(&t, EPOCHS, stop_every, (void*)&every);
    while (status == BDL_STOPPED) {
      const snapshot before = snapshot_of(&t);
      reload(&t);
      assert_resumed(&variants[k], &before, &t);
      status = variant_fit(&t, 0, stop_every, (void*)&every);
    }
    OK(status);
    assert_resumed(&variants[k], &expected, &t);
    trained_free(&t);
  }
}

/* As above, for a loop of the caller's own, step by step. */
static void test_reloaded_between_steps(void** state) {
  (void)state;
  for (int k = 0; k < VARIANTS; ++k) {
    trained straight = variant_create(&variants[k]), reloaded = variant_create(&variants[k]);
    snapshot expected;
    OK(bdl_optimizer_set_int(straight.optimizer, "total_steps", 12));
    OK(bdl_optimizer_set_int(reloaded.optimizer, "total_steps", 12));
    for (int step = 0; step < 12; ++step) {
      const dataset* d = &straight.data;
      const bdl_matrix x = bdl_f64(d->x + step % 3 * 8 * INPUTS, 8, INPUTS),
                       y = bdl_f64(d->y + step % 3 * 8 * d->targets, 8, d->targets);
      OK(bdl_optimizer_step(straight.optimizer, x, y));
      OK(bdl_optimizer_step(reloaded.optimizer, x, y));
      if (step % 3 == 0) reload(&reloaded);
    }
    expected = snapshot_of(&straight);
    assert_resumed(&variants[k], &expected, &reloaded);
    trained_free(&straight);
    trained_free(&reloaded);
  }
}

/* A second course begins where the first was broken off, at a fresh epoch. */
static void test_new_course(void** state) {
  const int64_t last = 5; /* one epoch and a step */
  trained t = variant_create(&variants[0]);
  int64_t step = 0, planned = 0;
  double epoch = 0;
  (void)state;
  assert_int_equal(variant_fit(&t, EPOCHS, stop_after, (void*)&last), BDL_STOPPED);
  OK(bdl_optimizer_progress(t.optimizer, &step, &planned, &epoch));
  assert_true(step == 5 && planned == STEPS && epoch == 1.25);
  OK(variant_fit(&t, 1, NULL, NULL));
  OK(bdl_optimizer_progress(t.optimizer, &step, &planned, &epoch));
  assert_true(step == 9 && planned == 9 && epoch == 3);
  trained_free(&t);
}

/* Options survive the file. */
static void test_options_are_saved(void** state) {
  trained t = variant_create(&variants[3]);
  int64_t minibatch = 0;
  double momentum = 0;
  const char* method = NULL;
  (void)state;
  reload(&t);
  OK(bdl_optimizer_get_int(t.optimizer, "minibatch", &minibatch));
  OK(bdl_optimizer_get_double(t.optimizer, "momentum", &momentum));
  OK(bdl_optimizer_get_choice(t.optimizer, "eigen_method", &method));
  assert_int_equal(minibatch, MINIBATCH);
  assert_true(momentum == 0.9);
  assert_string_equal(method, "randomized");
  trained_free(&t);
}

/* A posterior that never was trained stays blank in the file: an optimizer of the loaded one initialises it.
 */
static void test_blank_posterior(void** state) {
  trained t = variant_create(&variants[0]);
  const snapshot expected = uninterrupted(&variants[0]);
  (void)state;
  reload(&t);
  OK(variant_fit(&t, EPOCHS, NULL, NULL));
  assert_resumed(&variants[0], &expected, &t);
  trained_free(&t);
}

int test_resume(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stopped_after_any_step),
                                     cmocka_unit_test(test_stopped_again_and_again),
                                     cmocka_unit_test(test_reloaded_every_third_step),
                                     cmocka_unit_test(test_reloaded_between_steps),
                                     cmocka_unit_test(test_new_course),
                                     cmocka_unit_test(test_options_are_saved),
                                     cmocka_unit_test(test_blank_posterior)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
