/* Coefficients of generalised linear models in the caller's units, and contrasts with a base class. */
#include "refused.h"

enum { K = 3, INPUT_COUNT = 2, SIZE = K * (INPUT_COUNT + 1) };

static bdl_model* linear(bdl_likelihood likelihood, int outputs) {
  const int64_t sizes[] = {INPUT_COUNT, outputs};
  bdl_model* model;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, likelihood, &model));
  return model;
}

static void near(double got, double expected) {
  if (fabs(got - expected) > 1e-12 * (1 + fabs(expected)))
    fail_msg("got %.17g, expected %.17g", got, expected);
}

/* A posterior with a given mean and a covariance that is not diagonal. */
static bdl_posterior* posterior_of(const double* mean, int size, double* covariance) {
  bdl_posterior* q;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) covariance[size * i + j] = (i == j ? 2 : 0) + 1.0 / (1 + i + j);
  OK(bdl_posterior_create_full_moment(BDL_F64, size, &q));
  OK(bdl_posterior_set_full_moment(q, bdl_f64(mean, 1, size), bdl_f64(covariance, size, size)));
  return q;
}

/* f(x) = intercept + slopes x for the x and f of the caller. */
static void test_units(void** state) {
  const double theta[] = {0.5, -2, 1, 0.25, 3, -1, 0.7, 0.1, 0.2}, m[] = {10, -3}, s[] = {4, 0.5},
               t[] = {100, 0, 5}, u[] = {20, 1, 3}, x[] = {1, 2, -3, 40};
  bdl_model* model = linear(BDL_GAUSSIAN, K);
  double coefficients[SIZE], f[2 * K];
  (void)state;
  OK(bdl_model_set_standardization(model, bdl_f64(m, 1, 2), bdl_f64(s, 1, 2), bdl_f64(t, 1, K),
                                   bdl_f64(u, 1, K)));
  assert_int_equal(bdl_model_coefficient_count(model, -1), SIZE);
  assert_int_equal(bdl_model_coefficient_count(model, 0), 0);
  OK(bdl_model_coefficients(model, -1, bdl_f64(theta, 1, SIZE), bdl_f64_out(coefficients, 1, SIZE)));
  OK(bdl_model_evaluate(model, bdl_f64(theta, 1, SIZE), bdl_f64(x, 2, 2), bdl_f64_out(f, 2, K)));
  for (int i = 0; i < 2; ++i)
    for (int c = 0; c < K; ++c) {
      const double* of = coefficients + 3 * c;
      near(of[0] + of[1] * x[2 * i] + of[2] * x[2 * i + 1], f[K * i + c]);
    }
  watch(NULL);
  REFUSED(BDL_ERROR_UNSUPPORTED, "base_class is 1, but the likelihood is not categorical",
          bdl_model_coefficients(model, 1, bdl_f64(theta, 1, SIZE), into(1, SIZE)));
  REFUSES_INPUTS("parameters", 2, SIZE, bdl_model_coefficients(model, -1, wrong, into(2, SIZE)));
  REFUSES_OUTPUTS("coefficients", 2, SIZE, bdl_model_coefficients(model, -1, given(2, SIZE), wrong));
  bdl_model_free(model);
}

/* Contrasts are differences of coefficients, their covariances those of the differences. */
static void test_contrasts(void** state) {
  const double theta[] = {0.5, -2, 1, 0.25, 3, -1, 0.7, 0.1, 0.2}, m[] = {10, -3}, s[] = {4, 0.5};
  double covariance[SIZE * SIZE], all[SIZE], full[SIZE * SIZE], mean[6], spread[36];
  bdl_model* model = linear(BDL_CATEGORICAL, K);
  bdl_posterior* q = posterior_of(theta, SIZE, covariance);
  (void)state;
  OK(bdl_model_set_standardization(model, bdl_f64(m, 1, 2), bdl_f64(s, 1, 2), bdl_none(), bdl_none()));
  OK(bdl_posterior_coefficients(q, model, -1, bdl_f64_out(all, 1, SIZE), bdl_f64_out(full, SIZE, SIZE)));
  near(all[1], 0.5 / 4);
  near(full[SIZE + 1], covariance[0] / 16);
  near(full[SIZE + 2], covariance[1] / 2); /* slopes of both inputs: 4 x 0.5 */
  for (int64_t base = 0; base < K; ++base) {
    int row = 0;
    assert_int_equal(bdl_model_coefficient_count(model, base), 6);
    OK(bdl_posterior_coefficients(q, model, base, bdl_f64_out(mean, 1, 6), bdl_f64_out(spread, 6, 6)));
    for (int c = 0; c < K; ++c)
      for (int j = 0; c != base && j < 3; ++j, ++row) {
        const int of = 3 * c + j, less = 3 * (int)base + j;
        near(mean[row], all[of] - all[less]);
        int column = 0;
        for (int d = 0; d < K; ++d)
          for (int k = 0; d != base && k < 3; ++k, ++column) {
            const int to = 3 * d + k, minus = 3 * (int)base + k;
            near(spread[6 * row + column], full[SIZE * of + to] - full[SIZE * of + minus] -
                                               full[SIZE * less + to] + full[SIZE * less + minus]);
          }
      }
  }
  watch(NULL);
  REFUSED(INVALID, "base_class is 3, expected -1 to 2",
          bdl_posterior_coefficients(q, model, 3, into(1, 6), bdl_none_out()));
  REFUSED(INVALID, "base_class is -2", bdl_model_coefficients(model, -2, given(1, SIZE), into(1, SIZE)));
  REFUSED(INVALID, "posterior is NULL",
          bdl_posterior_coefficients(NULL, model, 0, into(1, 6), bdl_none_out()));
  REFUSED(INVALID, "model is NULL", bdl_posterior_coefficients(q, NULL, 0, into(1, 6), bdl_none_out()));
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* A common shift of all classes' parameters changes no contrast. */
static void test_common_level(void** state) {
  double theta[2 * SIZE], contrasts[2 * 6];
  bdl_model* model = linear(BDL_CATEGORICAL, K);
  (void)state;
  for (int j = 0; j < SIZE; ++j) {
    theta[j] = 0.1 * j * j;
    theta[SIZE + j] = theta[j] + (j < 6 ? 1 + j % 2 : 7); /* W row by row, then the biases */
  }
  OK(bdl_model_coefficients(model, 0, bdl_f64(theta, 2, SIZE), bdl_f64_out(contrasts, 2, 6)));
  for (int j = 0; j < 6; ++j) near(contrasts[6 + j], contrasts[j]);
  bdl_model_free(model);
}

static void test_other_models(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_model* shifted;
  const double m[] = {1, 2};
  (void)state;
  watch(&t);
  assert_int_equal(bdl_model_coefficient_count(NULL, -1), 0);
  assert_int_equal(bdl_model_coefficient_count(t.model, -1), 0);
  REFUSED(BDL_ERROR_UNSUPPORTED, "not one dense layer",
          bdl_model_coefficients(t.model, -1, given(1, 17), into(1, 17)));
  trained_free(&t);
  OK(bdl_model_create_network(BDL_F64, "input 2; dense 1 nobias", BDL_GAUSSIAN, &shifted));
  assert_int_equal(bdl_model_coefficient_count(shifted, -1), 2);
  OK(bdl_model_set_standardization(shifted, bdl_f64(m, 1, 2), bdl_none(), bdl_none(), bdl_none()));
  watch(NULL);
  REFUSED(BDL_ERROR_UNSUPPORTED, "has no bias, but its standardisation shifts",
          bdl_model_coefficients(shifted, -1, given(1, 2), into(1, 2)));
  bdl_model_free(shifted);
}

int test_coefficients(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_units), cmocka_unit_test(test_contrasts),
                                     cmocka_unit_test(test_common_level),
                                     cmocka_unit_test(test_other_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
