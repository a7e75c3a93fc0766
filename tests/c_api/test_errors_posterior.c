/* Calls that the functions of posterior.h refuse. */
#include "refused.h"

enum { D = 17, L = 2 };

static void test_create(void** state) {
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "dtype is 0", bdl_posterior_create_low_rank((bdl_dtype)0, 3, 1, &out.posterior));
  REFUSED(INVALID, "dtype is 3", bdl_posterior_create_low_rank(BDL_I32, 3, 1, &out.posterior));
  REFUSED(INVALID, "dimension is 0", bdl_posterior_create_low_rank(BDL_F64, 0, 0, &out.posterior));
  REFUSED(INVALID, "dimension is -3", bdl_posterior_create_low_rank(BDL_F64, -3, 0, &out.posterior));
  REFUSED(INVALID, "dimension is 9223372036854775807",
          bdl_posterior_create_low_rank(BDL_F64, INT64_MAX, 0, &out.posterior));
  REFUSED(INVALID, "rank is -1", bdl_posterior_create_low_rank(BDL_F64, 3, -1, &out.posterior));
  REFUSED(INVALID, "rank is 4, expected 0 to 3",
          bdl_posterior_create_low_rank(BDL_F64, 3, 4, &out.posterior));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_create_low_rank(BDL_F64, 3, 1, NULL));
  REFUSED(INVALID, "dtype is 4", bdl_posterior_create_full((bdl_dtype)4, 3, &out.posterior));
  REFUSED(INVALID, "dimension is 0", bdl_posterior_create_full(BDL_F32, 0, &out.posterior));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_create_full(BDL_F32, 3, NULL));
}

static void test_null_posterior(void** state) {
  const int64_t index = 0;
  (void)state;
  watch(NULL);
  bdl_posterior_free(NULL);
  assert_int_equal(bdl_posterior_dimension(NULL), 0);
  assert_int_equal(bdl_posterior_rank(NULL), 0);
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_copy(NULL, &out.posterior));
  REFUSED(INVALID, "posterior is NULL",
          bdl_posterior_set_low_rank(NULL, given(1, D), given(D, L), given(1, D)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_set_full(NULL, given(1, D), given(D, D)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_mean(NULL, into(1, D)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_get_low_rank(NULL, into(D, L), bdl_none_out()));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_precision_diagonal(NULL, into(1, D)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_marginal_variance(NULL, into(1, D)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_covariance(NULL, &index, 1, &index, 1, into(1, 1)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_solve(NULL, given(1, D), into(1, D)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_sample(NULL, 1, 0, into(2, D)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_log_density(NULL, given(1, D), into(1, 1)));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_log_det_covariance(NULL, &out.number));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_entropy(NULL, &out.number));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_kl_prior(NULL, given(1, 1), &out.number));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_update(NULL, given(1, D), 1, 0.1, 0.1, given(1, 1)));
}

static void test_null_results(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, L);
  const bdl_posterior* q = t.posterior;
  (void)state;
  watch(&t);
  REFUSED(INVALID, "copy is NULL", bdl_posterior_copy(q, NULL));
  REFUSED(INVALID, "log_det is NULL", bdl_posterior_log_det_covariance(q, NULL));
  REFUSED(INVALID, "entropy is NULL", bdl_posterior_entropy(q, NULL));
  REFUSED(INVALID, "kl is NULL", bdl_posterior_kl_prior(q, given(1, 1), NULL));
  REFUSED(INVALID, "kl is NULL", bdl_posterior_kl(q, q, NULL));
  REFUSED(INVALID, "q is NULL", bdl_posterior_kl(NULL, q, &out.number));
  REFUSED(INVALID, "p is NULL", bdl_posterior_kl(q, NULL, &out.number));
  trained_free(&t);
}

static void test_set_low_rank(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, L), full = trained_create(BDL_F64, BDL_GAUSSIAN, FULL);
  double values[D * L] = {0}, ones[D];
  const bdl_matrix mean = bdl_f64(values, 1, D), u = bdl_f64(values, D, L), d = bdl_f64(ones, 1, D);
  (void)state;
  for (int i = 0; i < D; ++i) ones[i] = 1;
  watch(&t);
  REFUSES_INPUTS("mean", 1, D, bdl_posterior_set_low_rank(t.posterior, wrong, u, d));
  REFUSES_PRECISIONS("diagonal", D, bdl_posterior_set_low_rank(t.posterior, mean, u, wrong));
  REFUSED(BDL_ERROR_SHAPE, "mean has 2 rows", bdl_posterior_set_low_rank(t.posterior, given(2, D), u, d));
  REFUSED(BDL_ERROR_SHAPE, "low_rank has 3 columns, expected 2",
          bdl_posterior_set_low_rank(t.posterior, mean, given(D, 3), d));
  REFUSED(BDL_ERROR_SHAPE, "low_rank has 2 rows, expected 17",
          bdl_posterior_set_low_rank(t.posterior, mean, given(L, D), d));
  REFUSED(BDL_ERROR_NOT_FINITE, "low_rank is not finite at row 16, column 1",
          bdl_posterior_set_low_rank(t.posterior, mean, spoiled(D, L, D - 1, L - 1, (double)NAN), d));
  watch(&full);
  REFUSED(BDL_ERROR_UNSUPPORTED, "low-rank", bdl_posterior_set_low_rank(full.posterior, mean, u, d));
  trained_free(&t);
  trained_free(&full);
}

/* A number that is finite as a double and not as a float is refused by a posterior of floats. */
static void test_float_range(void** state) {
  trained t = trained_create(BDL_F32, BDL_GAUSSIAN, L);
  double zeros[D] = {0};
  const bdl_matrix mean = bdl_f64(zeros, 1, D), none = bdl_none();
  (void)state;
  watch(&t);
  REFUSED(BDL_ERROR_NOT_FINITE, "mean",
          bdl_posterior_set_low_rank(t.posterior, spoiled(1, D, 0, 3, 1e300), none, given(1, D)));
  REFUSED(INVALID, "diagonal",
          bdl_posterior_set_low_rank(t.posterior, mean, none, spoiled(1, D, 0, 3, 1e300)));
  REFUSED(INVALID, "diagonal",
          bdl_posterior_set_low_rank(t.posterior, mean, none, spoiled(1, D, 0, 3, 1e-300)));
  REFUSED(INVALID, "precision", bdl_optimizer_set_prior(t.optimizer, spoiled(1, D, 0, 3, 1e-300)));
  REFUSED(INVALID, "prior_precision",
          bdl_posterior_kl_prior(t.posterior, spoiled(1, D, 0, 3, 1e300), &out.number));
  trained_free(&t);
}

static void test_set_full(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, L), full = trained_create(BDL_F64, BDL_GAUSSIAN, FULL);
  double mean_values[D] = {0}, identity[D * D] = {0}, broken[D * D];
  const bdl_matrix mean = bdl_f64(mean_values, 1, D), p = bdl_f64(identity, D, D), q = bdl_f64(broken, D, D);
  (void)state;
  for (int i = 0; i < D; ++i) identity[i * D + i] = 1;
  watch(&full);
  REFUSES_INPUTS("mean", 1, D, bdl_posterior_set_full(full.posterior, wrong, p));
  REFUSES_INPUTS("precision", D, D, bdl_posterior_set_full(full.posterior, mean, wrong));
  REFUSED(BDL_ERROR_SHAPE, "precision has 16 rows",
          bdl_posterior_set_full(full.posterior, mean, given(D - 1, D)));
  memcpy(broken, identity, sizeof broken);
  broken[3 * D + 1] = 0.5;
  REFUSED(INVALID, "precision is not symmetric at row 3, column 1",
          bdl_posterior_set_full(full.posterior, mean, q));
  memcpy(broken, identity, sizeof broken);
  broken[5 * D + 5] = -1;
  REFUSED(INVALID, "precision is not positive definite", bdl_posterior_set_full(full.posterior, mean, q));
  watch(&t);
  REFUSED(BDL_ERROR_UNSUPPORTED, "full", bdl_posterior_set_full(t.posterior, mean, p));
  trained_free(&t);
  trained_free(&full);
}

static void test_reading(void** state) {
  trained t = trained_create(BDL_F32, BDL_GAUSSIAN, L), full = trained_create(BDL_F64, BDL_GAUSSIAN, FULL);
  const bdl_posterior* q = t.posterior;
  (void)state;
  watch(&t);
  REFUSES_OUTPUTS("mean", 1, D, bdl_posterior_mean(q, wrong));
  REFUSES_OUTPUTS("diagonal", 1, D, bdl_posterior_precision_diagonal(q, wrong));
  REFUSES_OUTPUTS("variance", 1, D, bdl_posterior_marginal_variance(q, wrong));
  REFUSES_INPUTS("vectors", 3, D, bdl_posterior_solve(q, wrong, into(3, D)));
  REFUSES_OUTPUTS("solution", 3, D, bdl_posterior_solve(q, given(3, D), wrong));
  REFUSES_INPUTS("parameters", 3, D, bdl_posterior_log_density(q, wrong, into(3, 1)));
  REFUSES_OUTPUTS("log_density", 3, 1, bdl_posterior_log_density(q, given(3, D), wrong));
  REFUSED(BDL_ERROR_SHAPE, "low_rank has 3 columns",
          bdl_posterior_get_low_rank(q, into(D, 3), bdl_none_out()));
  REFUSED(BDL_ERROR_SHAPE, "diagonal has 3 columns", bdl_posterior_get_low_rank(q, into(D, L), into(1, 3)));
  REFUSED(BDL_ERROR_SHAPE, "low_rank is an output of dtype i32",
          bdl_posterior_get_low_rank(q, bdl_strided_out(out.matrix, BDL_I32, D, L, L, 1), bdl_none_out()));
  REFUSED(BDL_ERROR_SHAPE, "low_rank is an output whose elements overlap",
          bdl_posterior_get_low_rank(q, bdl_strided_out(out.matrix, BDL_F64, D, L, 1, 1), bdl_none_out()));
  watch(&full);
  REFUSED(BDL_ERROR_UNSUPPORTED, "low-rank",
          bdl_posterior_get_low_rank(full.posterior, into(D, D), into(1, D)));
  trained_free(&t);
  trained_free(&full);
}

static void test_covariance(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, L);
  const bdl_posterior* q = t.posterior;
  const int64_t good[] = {0, 16, 3}, negative[] = {0, -1}, high[] = {0, 17};
  (void)state;
  watch(&t);
  REFUSES_OUTPUTS("covariance", 3, 2, bdl_posterior_covariance(q, good, 3, good, 2, wrong));
  REFUSED(INVALID, "rows is NULL", bdl_posterior_covariance(q, NULL, 3, good, 2, into(3, 2)));
  REFUSED(INVALID, "cols is NULL", bdl_posterior_covariance(q, good, 3, NULL, 2, into(3, 2)));
  REFUSED(INVALID, "count is 0", bdl_posterior_covariance(q, good, 0, good, 2, into(3, 2)));
  REFUSED(INVALID, "count is -2", bdl_posterior_covariance(q, good, 3, good, -2, into(3, 2)));
  REFUSED(INVALID, "rows is -1", bdl_posterior_covariance(q, negative, 2, good, 2, into(2, 2)));
  REFUSED(INVALID, "cols is 17, expected 0 to 16", bdl_posterior_covariance(q, good, 2, high, 2, into(2, 2)));
  trained_free(&t);
}

static void test_sample(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, L);
  (void)state;
  watch(&t);
  REFUSES_SOME_OUTPUTS(BAD_SHAPES, "samples", 3, D, bdl_posterior_sample(t.posterior, 1, 0, wrong));
  REFUSED(BDL_ERROR_SHAPE, "samples is an output of dtype i32",
          bdl_posterior_sample(t.posterior, 1, 0, bdl_strided_out(out.matrix, BDL_I32, 3, D, D, 1)));
  REFUSED(INVALID, "first is -1", bdl_posterior_sample(t.posterior, 1, -1, into(3, D)));
  REFUSED(INVALID, "first is 4294967296", bdl_posterior_sample(t.posterior, 1, INT64_C(1) << 32, into(3, D)));
  REFUSED(INVALID, "number of samples is 3, expected 1 to 1",
          bdl_posterior_sample(t.posterior, 1, (INT64_C(1) << 32) - 1, into(3, D)));
  trained_free(&t);
}

static void test_kl(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, L);
  bdl_posterior *single, *small;
  (void)state;
  OK(bdl_posterior_create_full(BDL_F32, D, &single));
  OK(bdl_posterior_create_full(BDL_F64, 3, &small));
  watch(&t);
  REFUSES_PRECISIONS("prior_precision", D, bdl_posterior_kl_prior(t.posterior, wrong, &out.number));
  REFUSED(BDL_ERROR_SHAPE, "p is f32", bdl_posterior_kl(t.posterior, single, &out.number));
  REFUSED(BDL_ERROR_SHAPE, "p has 3 parameters", bdl_posterior_kl(t.posterior, small, &out.number));
  bdl_posterior_free(single);
  bdl_posterior_free(small);
  trained_free(&t);
}

static void test_update(void** state) {
  const double bad_rates[] = {(double)NAN, (double)INFINITY, -1};
  const int64_t ranks[] = {L, 0, FULL};
  (void)state;
  for (int r = 0; r < 3; ++r) {
    trained t = trained_create(r == 1 ? BDL_F32 : BDL_F64, BDL_GAUSSIAN, ranks[r]);
    bdl_posterior* q = t.posterior;
    double values[3 * D] = {0}, one = 1;
    const bdl_matrix rows = bdl_f64(values, 3, D), prior = bdl_f64(&one, 1, 1);
    watch(&t);
    REFUSES_INPUTS("rows", 3, D, bdl_posterior_update(q, wrong, 1, 0.1, 0.1, prior));
    REFUSES_PRECISIONS("prior_precision", D, bdl_posterior_update(q, rows, 1, 0.1, 0.1, wrong));
    for (int k = 0; k < 3; ++k) {
      REFUSED(INVALID, "scale is ", bdl_posterior_update(q, rows, bad_rates[k], 0.1, 0.1, prior));
      REFUSED(INVALID, "learning_rate is ", bdl_posterior_update(q, rows, 1, bad_rates[k], 0.1, prior));
      REFUSED(INVALID, "curvature_rate is ", bdl_posterior_update(q, rows, 1, 0.1, bad_rates[k], prior));
    }
    REFUSED(INVALID, "scale is 0", bdl_posterior_update(q, rows, 0, 0.1, 0.1, prior));
    REFUSED(INVALID, "curvature_rate is 1, expected [0, 1)", bdl_posterior_update(q, rows, 1, 0.1, 1, prior));
    /* A step that would leave the range of the numbers is not taken. */
    REFUSED(BDL_ERROR_DIVERGED, "",
            bdl_posterior_update(q, spoiled(3, D, 1, 1, 1e30), 1e300, 0.1, 0.1, prior));
    REFUSED(BDL_ERROR_DIVERGED, "", bdl_posterior_update(q, given(3, D), 1e9, 1e308, 0, prior));
    trained_free(&t);
  }
}

int test_errors_posterior(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create),       cmocka_unit_test(test_null_posterior),
      cmocka_unit_test(test_null_results), cmocka_unit_test(test_set_low_rank),
      cmocka_unit_test(test_float_range),  cmocka_unit_test(test_set_full),
      cmocka_unit_test(test_reading),      cmocka_unit_test(test_covariance),
      cmocka_unit_test(test_sample),       cmocka_unit_test(test_kl),
      cmocka_unit_test(test_update)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
