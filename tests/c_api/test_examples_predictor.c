/* A predictor, the way a newcomer would use it: many predictions of few rows each. */
#include "c_api_test.h"

enum { S = 20, DRAWS = 2 * S };

static trained t;
static bdl_predictor* predictor;

static int setup(void** state) {
  (void)state;
  t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  OK(bdl_predictor_create(t.model, t.posterior, BDL_MONTE_CARLO, S, 1, &predictor));
  return 0;
}

static int teardown(void** state) {
  (void)state;
  bdl_predictor_free(predictor);
  trained_free(&t);
  return 0;
}

static bdl_matrix row(int i) {
  return bdl_f64(t.data.x + i * INPUTS, 1, INPUTS);
}

/* One row after the other, as they come. */
static void example_moments(void** state) {
  double mean[2] = {0, 0}, epistemic[2] = {0, 0}, noise[2] = {0, 0}, again[2] = {0, 0};
  (void)state;
  for (int i = 0; i < ROWS; ++i) {
    OK(bdl_predictor_moments(predictor, row(i), bdl_f64_out(mean, 1, 2), bdl_f64_out(epistemic, 1, 2),
                             bdl_f64_out(noise, 1, 2)));
    OK(bdl_predict(t.model, t.posterior, row(i), BDL_MONTE_CARLO, S, 1, bdl_f64_out(again, 1, 2),
                   bdl_none_out(), bdl_none_out()));
    assert_memory_equal(mean, again, sizeof mean); /* identical */
    assert_true(epistemic[0] > 0 && noise[0] > 0);
  }
}

static void example_quantiles(void** state) {
  const double levels[] = {0.05, 0.5, 0.95};
  double quantiles[6] = {0, 0, 0, 0, 0, 0}, lower[2] = {0, 0}, upper[2] = {0, 0};
  (void)state;
  OK(bdl_predictor_quantiles(predictor, row(0), bdl_f64(levels, 1, 3), bdl_f64_out(quantiles, 1, 6)));
  OK(bdl_predictor_interval(predictor, row(0), 0.9, bdl_f64_out(lower, 1, 2), bdl_f64_out(upper, 1, 2)));
  assert_true(lower[0] < quantiles[1] && quantiles[1] < upper[0]);
  assert_true(fabs(lower[1] - quantiles[3]) < 1e-9);
}

static void example_log_density(void** state) {
  double likely = 0, unlikely = 0, far[2] = {0, 0};
  (void)state;
  far[0] = t.data.y[0] + 100;
  far[1] = t.data.y[1];
  OK(bdl_predictor_log_density(predictor, row(0), bdl_f64(t.data.y, 1, 2), bdl_f64_out(&likely, 1, 1)));
  OK(bdl_predictor_log_density(predictor, row(0), bdl_f64(far, 1, 2), bdl_f64_out(&unlikely, 1, 1)));
  assert_true(likely > unlikely);
}

static void example_draws(void** state) {
  double draws[DRAWS], lowest = HUGE_VAL, highest = -HUGE_VAL;
  (void)state;
  memset(draws, 0, sizeof draws);
  OK(bdl_predictor_draws(predictor, row(0), bdl_f64_out(draws, 1, DRAWS)));
  for (int k = 0; k < S; ++k) { /* of the first target */
    lowest = fmin(lowest, draws[k]);
    highest = fmax(highest, draws[k]);
  }
  assert_true(lowest < highest);
}

static void example_output_distribution(void** state) {
  double mean[2] = {0, 0}, covariance[4] = {0, 0, 0, 0};
  (void)state;
  OK(bdl_predictor_output_distribution(predictor, row(0), bdl_f64_out(mean, 1, 2),
                                       bdl_f64_out(covariance, 1, 4)));
  assert_true(covariance[0] > 0 && covariance[1] == covariance[2]);
}

static void example_leverage(void** state) {
  double near = 0, far = 0, outside[INPUTS];
  (void)state;
  for (int j = 0; j < INPUTS; ++j) outside[j] = 100;
  OK(bdl_predictor_leverage(predictor, row(0), bdl_f64_out(&near, 1, 1), bdl_none_out()));
  OK(bdl_predictor_leverage(predictor, bdl_f64(outside, 1, INPUTS), bdl_f64_out(&far, 1, 1), bdl_none_out()));
  assert_true(0 < near && near < far);
}

static void example_classes(void** state) {
  trained classes = trained_create(BDL_F32, BDL_CATEGORICAL, 2);
  double p[3] = {0, 0, 0}, entropy = 0, information = 0;
  bdl_predictor* of_classes;
  (void)state;
  OK(bdl_predictor_create(classes.model, classes.posterior, BDL_MONTE_CARLO, S, 1, &of_classes));
  OK(bdl_predictor_classes(of_classes, bdl_f64(classes.data.x, 1, INPUTS), bdl_f64_out(p, 1, 3),
                           bdl_f64_out(&entropy, 1, 1), bdl_f64_out(&information, 1, 1)));
  assert_true(fabs(p[0] + p[1] + p[2] - 1) < 1e-6);
  assert_true(entropy >= information && information >= 0);
  bdl_predictor_free(of_classes);
  trained_free(&classes);
}

/* A predictor is a snapshot: more training changes the next one. */
static void example_snapshot(void** state) {
  double before[2] = {0, 0}, after[2] = {0, 0}, next[2] = {0, 0};
  bdl_predictor* newer;
  (void)state;
  OK(bdl_predictor_moments(predictor, row(0), bdl_f64_out(before, 1, 2), bdl_none_out(), bdl_none_out()));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 2, NULL, NULL));
  OK(bdl_predictor_moments(predictor, row(0), bdl_f64_out(after, 1, 2), bdl_none_out(), bdl_none_out()));
  assert_memory_equal(before, after, sizeof before);
  OK(bdl_predictor_create(t.model, t.posterior, BDL_MONTE_CARLO, S, 1, &newer));
  OK(bdl_predictor_moments(newer, row(0), bdl_f64_out(next, 1, 2), bdl_none_out(), bdl_none_out()));
  assert_memory_not_equal(before, next, sizeof before);
  bdl_predictor_free(newer);
}

static int32_t line(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  const double* theta = (const double*)parameters.data;
  (void)user_data;
  for (int64_t i = 0; i < inputs.rows; ++i)
    ((double*)outputs.data)[i * outputs.row_stride] =
        theta[0] * ((const double*)inputs.data)[i * inputs.row_stride];
  return 0;
}

static void count(void* user_data) {
  ++*(int*)user_data;
}

/* Model and posterior may be freed; what a model of your own refers to lives as long as the predictor. */
static void example_own_model(void** state) {
  const double x = 3;
  double mean = 0;
  int destroyed = 0;
  const bdl_model_callbacks callbacks = {
      .struct_size = sizeof callbacks, .outputs = line, .user_data = &destroyed, .destroy = count};
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_predictor* own;
  (void)state;
  OK(bdl_model_create_user(BDL_F64, 1, 1, 1, BDL_GAUSSIAN, &callbacks, &model));
  OK(bdl_posterior_create_full(BDL_F64, 1, &posterior));
  OK(bdl_predictor_create(model, posterior, BDL_PLUG_IN, 0, 0, &own));
  bdl_model_free(model);
  bdl_posterior_free(posterior);
  OK(bdl_predictor_moments(own, bdl_f64(&x, 1, 1), bdl_f64_out(&mean, 1, 1), bdl_none_out(), bdl_none_out()));
  assert_true(mean == 0); /* theta is 0 before any training */
  assert_int_equal(destroyed, 0);
  bdl_predictor_free(own);
  assert_int_equal(destroyed, 1);
}

int test_examples_predictor(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_moments),     cmocka_unit_test(example_quantiles),
      cmocka_unit_test(example_log_density), cmocka_unit_test(example_draws),
      cmocka_unit_test(example_classes),     cmocka_unit_test(example_output_distribution),
      cmocka_unit_test(example_leverage),    cmocka_unit_test(example_own_model),
      cmocka_unit_test(example_snapshot)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
