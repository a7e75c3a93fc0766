/* Examples of streams, as docs show them: a model f = theta x with Gaussian noise of variance 1, whose
 * posteriors are known. */
#include "c_api_test.h"

/* f = w x for one input, or a constant where x is 1. */
static bdl_model* line_create(void) {
  const int64_t sizes[] = {1, 1};
  const double precision = 1;
  bdl_model* model;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  return model;
}

typedef struct stream {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
} stream;

/* The prior is N(0, 1). */
static stream stream_create(const char* method) {
  const double zero = 0, one = 1;
  stream s;
  s.model = line_create();
  OK(bdl_posterior_create_full(BDL_F64, 1, &s.q));
  OK(bdl_posterior_set_full(s.q, bdl_f64(&zero, 1, 1), bdl_f64(&one, 1, 1)));
  OK(bdl_optimizer_create(s.model, s.q, method, 1, &s.optimizer));
  return s;
}

static void stream_free(stream* s) {
  bdl_optimizer_free(s->optimizer);
  bdl_posterior_free(s->q);
  bdl_model_free(s->model);
}

static double mean_of(const stream* s) {
  double mean = 0;
  OK(bdl_posterior_mean(s->q, bdl_f64_out(&mean, 1, 1)));
  return mean;
}

static double variance_of(const stream* s) {
  double variance = 0;
  OK(bdl_posterior_marginal_variance(s->q, bdl_f64_out(&variance, 1, 1)));
  return variance;
}

static const double log_2_pi = 1.8378770664093453;

/* Three observations of a constant: mean sum / 4, variance 1 / 4. The second target is missing: it is
 * predicted by nobody, and time passes. */
static void example_observe(void** state) {
  const double x[] = {1, 1, 1, 1}, y[] = {2, NAN, 1, 3};
  double log_density[4];
  stream s = stream_create("bong");
  (void)state;
  OK(bdl_optimizer_observe(s.optimizer, bdl_f64(x, 4, 1), bdl_f64(y, 4, 1), bdl_f64_out(log_density, 4, 1)));
  assert_true(fabs(mean_of(&s) - 6.0 / 4) < 1e-14);
  assert_true(fabs(variance_of(&s) - 1.0 / 4) < 1e-14);
  /* Before anything was seen, y ~ N(0, 1 + 1). */
  assert_true(fabs(log_density[0] - (-log_2_pi - log(2) - 4.0 / 2) / 2) < 1e-14);
  assert_true(isnan(log_density[1]));
  stream_free(&s);
}

/* A random walk: the variance grows by 0.5 a step, and by 0.5 once more before an observation; after
 * forecast(2) the next observation is made at that time. */
static void example_forecast(void** state) {
  const double one = 1;
  stream s = stream_create("ekf");
  (void)state;
  OK(bdl_optimizer_set_double(s.optimizer, "process_noise", 0.5));
  OK(bdl_optimizer_forecast(s.optimizer, 2));
  assert_true(fabs(variance_of(&s) - 2) < 1e-14);
  OK(bdl_optimizer_observe(s.optimizer, bdl_f64(&one, 1, 1), bdl_f64(&one, 1, 1), bdl_none_out()));
  assert_true(fabs(variance_of(&s) - 2.0 / 3) < 1e-14 && fabs(mean_of(&s) - 2.0 / 3) < 1e-14);
  OK(bdl_optimizer_observe(s.optimizer, bdl_f64(&one, 1, 1), bdl_f64(&one, 1, 1), bdl_none_out()));
  assert_true(fabs(variance_of(&s) - 7.0 / 13) < 1e-14); /* 2/3 + 1/2 = 7/6, then 1 / (6/7 + 1) */
  stream_free(&s);
}

/* Noise of its own for each parameter: only the second drifts. */
static void example_process_noise(void** state) {
  const int64_t sizes[] = {2, 1};
  const double noise[] = {0, 3}, zeros[] = {0, 0}, ones[] = {1, 1};
  double variance[2];
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 0, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, 2, &q));
  OK(bdl_posterior_set_diagonal_moment(q, bdl_f64(zeros, 1, 2), bdl_f64(ones, 1, 2)));
  OK(bdl_optimizer_create(model, q, "bong", 1, &optimizer));
  OK(bdl_optimizer_set_process_noise(optimizer, bdl_f64(noise, 1, 2)));
  OK(bdl_optimizer_forecast(optimizer, 1));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 2)));
  assert_true(variance[0] == 1 && variance[1] == 4);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* Means over the stream, each row judged before it was used. */
static void example_prequential(void** state) {
  const double x[] = {1, 1}, y[] = {2, 2};
  double scores[2], log_density = 0, error = 0;
  int64_t count = 0;
  stream s = stream_create("bong");
  (void)state;
  OK(bdl_optimizer_observe(s.optimizer, bdl_f64(x, 2, 1), bdl_f64(y, 2, 1), bdl_f64_out(scores, 2, 1)));
  OK(bdl_optimizer_prequential(s.optimizer, &count, &log_density, &error));
  assert_int_equal(count, 2);
  assert_true(fabs(log_density - (scores[0] + scores[1]) / 2) < 1e-14);
  assert_true(fabs(error - sqrt((4 + 1) / 2.0)) < 1e-14); /* predicted 0, then 1 */
  stream_free(&s);
}

/* A moment family's covariance step 1 - x^2 would be negative for x = 2: it is shortened so that half is
 * left, and counted. */
static void example_shortened_steps(void** state) {
  const double zero = 0, one = 1, two = 2;
  stream s = stream_create("bong");
  (void)state;
  bdl_optimizer_free(s.optimizer);
  bdl_posterior_free(s.q);
  OK(bdl_posterior_create_full_moment(BDL_F64, 1, &s.q));
  OK(bdl_posterior_set_full_moment(s.q, bdl_f64(&zero, 1, 1), bdl_f64(&one, 1, 1)));
  OK(bdl_optimizer_create(s.model, s.q, "bong", 1, &s.optimizer));
  OK(bdl_optimizer_set_choice(s.optimizer, "indefinite", "error"));
  assert_int_equal(
      bdl_optimizer_observe(s.optimizer, bdl_f64(&two, 1, 1), bdl_f64(&one, 1, 1), bdl_none_out()),
      BDL_ERROR_DIVERGED);
  assert_true(variance_of(&s) == 1 && bdl_optimizer_shortened_steps(s.optimizer) == 0);
  OK(bdl_optimizer_set_choice(s.optimizer, "indefinite", "shorten"));
  OK(bdl_optimizer_observe(s.optimizer, bdl_f64(&two, 1, 1), bdl_f64(&one, 1, 1), bdl_none_out()));
  assert_true(fabs(variance_of(&s) - 0.5) < 1e-12);
  assert_int_equal(bdl_optimizer_shortened_steps(s.optimizer), 1);
  stream_free(&s);
}

/* mu + sigma and mu - sigma: with draws in pairs the estimates of linear models have no noise. */
static int32_t antithetic(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                          const bdl_posterior* q, bdl_matrix_out draws) {
  double mean = 0, variance = 0;
  (void)step;
  (void)iteration;
  if (kind != BDL_DRAW_PARAMETERS || bdl_posterior_mean(q, bdl_f64_out(&mean, 1, 1)) != BDL_OK ||
      bdl_posterior_marginal_variance(q, bdl_f64_out(&variance, 1, 1)) != BDL_OK)
    return 1;
  for (int64_t i = 0; i < draws.rows; ++i)
    ((double*)draws.data)[i * draws.row_stride] = mean + (i % 2 == 0 ? 1 : -1) * sqrt(variance);
  ++*(int*)user_data;
  return 0;
}

/* Exact Bayes by Hessians at two samples. */
static void example_draws(void** state) {
  const double x[] = {1, 2}, y[] = {2, 1};
  int calls = 0;
  stream s = stream_create("rvga");
  (void)state;
  OK(bdl_optimizer_set_int(s.optimizer, "samples", 2));
  OK(bdl_optimizer_set_draws(s.optimizer, antithetic, &calls, NULL));
  OK(bdl_optimizer_observe(s.optimizer, bdl_f64(x, 2, 1), bdl_f64(y, 2, 1), bdl_none_out()));
  assert_int_equal(calls, 2);
  assert_true(fabs(variance_of(&s) - 1.0 / 6) < 1e-14);       /* 1 + 1 + 4 */
  assert_true(fabs(mean_of(&s) - 4.0 / 6) < 1e-14);           /* 2 + 2 */
  OK(bdl_optimizer_set_draws(s.optimizer, NULL, NULL, NULL)); /* the library's own streams again */
  OK(bdl_optimizer_observe(s.optimizer, bdl_f64(x, 1, 1), bdl_f64(y, 1, 1), bdl_none_out()));
  assert_int_equal(calls, 2);
  stream_free(&s);
}

/* Signs for Hutchinson's estimate of a Hessian's diagonal. */
static int32_t signs(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                     const bdl_posterior* q, bdl_matrix_out draws) {
  if (kind == BDL_DRAW_PARAMETERS)
    return bdl_posterior_sample(q, 1, step * 100 + iteration * 10, draws) == BDL_OK ? 0 : 1;
  for (int64_t i = 0; i < draws.rows; ++i)
    for (int64_t j = 0; j < draws.cols; ++j)
      ((double*)draws.data)[i * draws.row_stride + j * draws.col_stride] = (i + j) % 2 == 0 ? 1 : -1;
  ++*(int*)user_data;
  return 0;
}

static void example_probes(void** state) {
  const int64_t sizes[] = {2, 1};
  const double x[] = {1, 2}, y = 1, precision = 1, zeros[] = {0, 0}, ones[] = {1, 1};
  double variance[2];
  int calls = 0;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  OK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  OK(bdl_posterior_set_low_rank(q, bdl_f64(zeros, 1, 2), bdl_none(), bdl_f64(ones, 1, 2)));
  OK(bdl_optimizer_create(model, q, "bong", 1, &optimizer));
  OK(bdl_optimizer_set_choice(optimizer, "curvature", "mc-hess"));
  OK(bdl_optimizer_set_int(optimizer, "probes", 1));
  OK(bdl_optimizer_set_draws(optimizer, signs, &calls, NULL));
  OK(bdl_optimizer_observe(optimizer, bdl_f64(x, 1, 2), bdl_f64(&y, 1, 1), bdl_none_out()));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 2)));
  assert_int_equal(calls, 1);
  /* H = [1 2; 2 4] and z = (1, -1): z * (H z) = (-1, 2). The first precision would be 1 - 1 = 0: a half is
   * left. */
  assert_true(fabs(variance[0] - 2) < 1e-12 && fabs(variance[1] - 1.0 / 3) < 1e-12);
  assert_int_equal(bdl_optimizer_shortened_steps(optimizer), 1);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

int test_examples_online(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_observe),         cmocka_unit_test(example_forecast),
      cmocka_unit_test(example_process_noise),   cmocka_unit_test(example_prequential),
      cmocka_unit_test(example_shortened_steps), cmocka_unit_test(example_draws),
      cmocka_unit_test(example_probes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
