/* Defaults on small linear regressions: the empirical Fisher of an optimistic start would hold the mean back.
 */
#include "c_api/c_api_test.h"

enum { MOST_ROWS = 200, MOST_INPUTS = 5 };

/* Roughly normal: a sum of twelve uniforms. */
static double noise(uint32_t* state) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += (double)((*state = *state * 1664525U + 1013904223U) >> 8) / 16777216.0;
  return sum;
}

static void check_regression(const char* method, int64_t rows, int64_t inputs) {
  double x[MOST_ROWS * MOST_INPUTS], y[MOST_ROWS], mean[MOST_INPUTS + 1], precision = 0;
  uint32_t state = (uint32_t)(7 * rows + inputs);
  const int64_t sizes[] = {inputs, 1};
  bdl_model* model = NULL;
  bdl_posterior* q = NULL;
  bdl_optimizer* optimizer = NULL;
  for (int64_t i = 0; i < rows; ++i) {
    y[i] = 0.1 * noise(&state);
    for (int64_t j = 0; j < inputs; ++j) y[i] += x[i * inputs + j] = noise(&state);
  }
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, inputs + 1, 1, &q));
  OK(bdl_optimizer_create(model, q, method, rows, &optimizer));
  OK(bdl_optimizer_fit(optimizer, bdl_f64(x, rows, inputs), bdl_f64(y, rows, 1), 120, NULL, NULL));
  OK(bdl_posterior_mean(q, bdl_f64_out(mean, 1, inputs + 1)));
  OK(bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)));
  for (int64_t j = 0; j < inputs; ++j) assert_true(fabs(mean[j] - 1) < 0.15);
  assert_true(1 / sqrt(precision) > 0.05 && 1 / sqrt(precision) < 0.7);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void test_small_regressions(void** unused) {
  const char* const methods[] = {"slang", "slang-ggn"};
  (void)unused;
  for (int m = 0; m < 2; ++m)
    for (int64_t rows = 50; rows <= MOST_ROWS; rows *= 2)
      for (int64_t inputs = 1; inputs <= MOST_INPUTS; inputs += 4) check_regression(methods[m], rows, inputs);
}

int test_small_data(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_regressions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
