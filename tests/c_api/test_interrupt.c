/* bdl_set_interrupt(): long calls ask, end with BDL_STOPPED, and lose nothing that was completed. */
#include <pthread.h>
#include <time.h>

#include "c_api_test.h"

/* A host that answers yes when it is asked for the given time. */
typedef struct host {
  int asked, stop_at;
  pthread_t thread;
} host;

static int32_t ask(void* user_data) {
  host* const h = (host*)user_data;
  h->thread = pthread_self();
  return ++h->asked == h->stop_at;
}

static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Long enough that the next call asks. */
static void pause_a_little(void) {
  const struct timespec pause = {0, 25000000};
  (void)nanosleep(&pause, NULL);
}

/* Makes the call's first question the one that is answered with stop. */
static host stopping_at_once(void) {
  host h;
  memset(&h, 0, sizeof h);
  h.stop_at = 1;
  pause_a_little();
  return h;
}
#define STOPPED(call)                      \
  do {                                     \
    host h = stopping_at_once();           \
    bdl_set_interrupt(ask, &h);            \
    assert_int_equal((call), BDL_STOPPED); \
    bdl_set_interrupt(NULL, NULL);         \
    assert_int_equal(h.asked, 1);          \
  } while (0)

/* An interrupted fit goes on to identical results. */
static void fit_is_interrupted(void** state) {
  trained a = untrained_create(BDL_F64, BDL_GAUSSIAN, 2), b = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  double mean_a[MOST_PARAMETERS], mean_b[MOST_PARAMETERS];
  int64_t step = 0;
  (void)state;
  OK(bdl_optimizer_fit(a.optimizer, x_of(&a.data), y_of(&a.data), 3, NULL, NULL));
  STOPPED(bdl_optimizer_fit(b.optimizer, x_of(&b.data), y_of(&b.data), 3, NULL, NULL));
  OK(bdl_optimizer_progress(b.optimizer, &step, NULL, NULL));
  assert_int_equal(step, 1);
  OK(bdl_optimizer_fit(b.optimizer, x_of(&b.data), y_of(&b.data), 0, NULL, NULL));
  OK(bdl_posterior_mean(a.posterior, bdl_f64_out(mean_a, 1, a.parameters)));
  OK(bdl_posterior_mean(b.posterior, bdl_f64_out(mean_b, 1, b.parameters)));
  assert_memory_equal(mean_a, mean_b, sizeof(double) * (size_t)a.parameters);
  trained_free(&a);
  trained_free(&b);
}

/* On the calling thread, and not so often that it costs. */
static void asking_is_cheap(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  host h;
  double start, time;
  (void)state;
  memset(&h, 0, sizeof h);
  bdl_set_interrupt(ask, &h);
  start = seconds();
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 3000, NULL, NULL));
  time = seconds() - start;
  bdl_set_interrupt(NULL, NULL);
  assert_true(h.asked >= 1 && h.asked <= 1 + (int)(time / 0.01));
  assert_true(pthread_equal(h.thread, pthread_self()));
  trained_free(&t);
}

static void predictions_write_nothing(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const bdl_predict_method methods[] = {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_LINEARIZED,
                                        BDL_LINEARIZED_MONTE_CARLO};
  double mean[ROWS * MOST_OUTPUTS];
  size_t k;
  (void)state;
  for (k = 0; k < sizeof methods / sizeof *methods; ++k) {
    mean[0] = -17;
    STOPPED(bdl_predict(t.model, t.posterior, x_of(&t.data), methods[k], 10, 1,
                        bdl_f64_out(mean, ROWS, t.outputs), bdl_none_out(), bdl_none_out()));
    assert_true(mean[0] == -17);
  }
  STOPPED(bdl_optimizer_elbo(t.optimizer, x_of(&t.data), y_of(&t.data), 10, 1, NULL, NULL));
  trained_free(&t);
}

/* The rows observed before the interruption count, the others do not. */
static void streams_keep_what_they_saw(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, FULL);
  bdl_optimizer* ekf;
  double scores[ROWS] = {-17};
  int64_t step = 0;
  (void)state;
  OK(bdl_optimizer_create(t.model, t.posterior, "ekf", ROWS, &ekf));
  STOPPED(bdl_optimizer_observe(ekf, x_of(&t.data), y_of(&t.data), bdl_f64_out(scores, ROWS, 1)));
  OK(bdl_optimizer_progress(ekf, &step, NULL, NULL));
  assert_int_equal(step, 1);
  assert_true(scores[0] == -17);
  bdl_optimizer_free(ekf);
  trained_free(&t);
}

static void laplace_leaves_the_posterior(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  double before[MOST_PARAMETERS], after[MOST_PARAMETERS];
  (void)state;
  OK(bdl_posterior_marginal_variance(t.posterior, bdl_f64_out(before, 1, t.parameters)));
  STOPPED(bdl_optimizer_laplace(t.optimizer, x_of(&t.data), y_of(&t.data)));
  OK(bdl_posterior_marginal_variance(t.posterior, bdl_f64_out(after, 1, t.parameters)));
  assert_memory_equal(before, after, sizeof(double) * (size_t)t.parameters);
  trained_free(&t);
}

/* The trial in training is not kept; running again makes it. */
static void searches_end(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_search* search;
  (void)state;
  OK(bdl_search_create(t.optimizer, 2, 2, BDL_PLUG_IN, 1, 1, &search));
  OK(bdl_search_add_double(search, "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
  STOPPED(bdl_search_run(search, x_of(&t.data), y_of(&t.data), 2, 0, NULL, NULL));
  assert_int_equal(bdl_search_trial_count(search), 0);
  OK(bdl_search_run(search, x_of(&t.data), y_of(&t.data), 2, 0, NULL, NULL));
  assert_int_equal(bdl_search_trial_count(search), 2);
  bdl_search_free(search);
  trained_free(&t);
}

static int32_t says_yes_after_100_ms(void* user_data) {
  return seconds() > *(const double*)user_data + 0.1;
}

/* Searches by several workers, of which only the thread of the call can ask: all of them end. */
static void searches_of_workers_end(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_search* search;
  double began = seconds();
  (void)state;
  OK(bdl_search_create(t.optimizer, 2, 100000000, BDL_PLUG_IN, 1, 1, &search)); /* days */
  OK(bdl_search_add_double(search, "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
  OK(bdl_search_set_workers(search, 3));
  bdl_set_interrupt(says_yes_after_100_ms, &began);
  assert_int_equal(bdl_search_run(search, x_of(&t.data), y_of(&t.data), 4, 0, NULL, NULL), BDL_STOPPED);
  bdl_set_interrupt(NULL, NULL);
  assert_true(seconds() < began + 30);
  assert_int_equal(bdl_search_trial_count(search), 0);
  bdl_search_free(search);
  trained_free(&t);
}

static int32_t leave(void* user_data) {
  (void)user_data;
  pthread_exit(NULL);
}

static void* train(void* user_data) {
  trained* const t = (trained*)user_data;
  bdl_set_interrupt(leave, NULL);
  (void)bdl_optimizer_fit(t->optimizer, x_of(&t->data), y_of(&t->data), 1000000, NULL, NULL);
  return NULL;
}

/* As Python ends its threads: the stack unwinds, detached or not, and nothing aborts. */
static void threads_may_end_in_a_callback(void** state) {
  const struct timespec pause = {0, 300000000};
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  pthread_t thread;
  int64_t step = 0;
  (void)state;
  assert_int_equal(pthread_create(&thread, NULL, train, &t), 0);
  assert_int_equal(pthread_detach(thread), 0);
  (void)nanosleep(&pause, NULL);
  OK(bdl_optimizer_progress(t.optimizer, &step, NULL, NULL));
  assert_true(step > 0);
  trained_free(&t);
}

/* Short calls that a callback makes do not ask, even though the step that called back is long. */
static int32_t read_then_draw(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                              const bdl_posterior* q, bdl_matrix_out draws) {
  host* const h = (host*)user_data;
  double mean[MOST_PARAMETERS];
  (void)kind, (void)step, (void)iteration;
  pause_a_little();
  h->stop_at = h->asked + 1;
  OK(bdl_posterior_mean(q, bdl_f64_out(mean, 1, draws.cols)));
  assert_int_equal(h->stop_at, h->asked + 1);
  h->stop_at = 0;
  for (int64_t i = 0; i < draws.rows; ++i)
    for (int64_t j = 0; j < draws.cols; ++j)
      ((double*)draws.data)[i * draws.row_stride + j * draws.col_stride] = mean[j] + 0.1 * (double)i;
  return 0;
}

static void callbacks_are_not_interrupted(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  host h;
  (void)state;
  memset(&h, 0, sizeof h);
  OK(bdl_optimizer_set_draws(t.optimizer, read_then_draw, &h, NULL));
  bdl_set_interrupt(ask, &h);
  OK(bdl_optimizer_step(t.optimizer, x_of(&t.data), y_of(&t.data)));
  bdl_set_interrupt(NULL, NULL);
  trained_free(&t);
}

int test_interrupt(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fit_is_interrupted),           cmocka_unit_test(asking_is_cheap),
      cmocka_unit_test(predictions_write_nothing),    cmocka_unit_test(streams_keep_what_they_saw),
      cmocka_unit_test(laplace_leaves_the_posterior), cmocka_unit_test(searches_end),
      cmocka_unit_test(searches_of_workers_end),      cmocka_unit_test(threads_may_end_in_a_callback),
      cmocka_unit_test(callbacks_are_not_interrupted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
