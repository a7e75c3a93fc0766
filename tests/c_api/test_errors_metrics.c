/* What the functions of metrics.h refuse. */
#include "refused.h"

enum { N = 3, K = 2 };

static void test_null_results(void** state) {
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "rmse is NULL", bdl_metric_rmse(given(N, K), given(N, K), NULL));
  REFUSED(INVALID, "mean is NULL", bdl_metric_log_predictive_density(given(N, 1), NULL, &out.other));
  REFUSED(INVALID, "accuracy is NULL", bdl_metric_accuracy(given(N, 1), given(N, 1), NULL));
  REFUSED(INVALID, "brier is NULL", bdl_metric_brier(given(N, 1), given(N, 1), NULL));
  REFUSED(INVALID, "ece is NULL", bdl_metric_ece(given(N, 1), given(N, 1), 15, NULL));
  REFUSED(INVALID, "coverage is NULL", bdl_metric_coverage(given(N, K), given(N, K), given(N, K), NULL));
  REFUSED(INVALID, "crps is NULL", bdl_metric_crps(given(N, K), given(N, 1), NULL));
}

static void test_arrays(void** state) {
  const double labels[N] = {0, 1, 1};
  const bdl_matrix y = bdl_f64(labels, N, 1), a = given(N, K);
  double* r = &out.number;
  (void)state;
  watch(NULL);
  REFUSES_INPUTS("y", N, K, bdl_metric_rmse(a, wrong, r));
  REFUSES_INPUTS("log_density", N, 1, bdl_metric_log_predictive_density(wrong, r, &out.other));
  REFUSES_INPUTS("y", N, 1, bdl_metric_accuracy(a, wrong, r));
  REFUSES_INPUTS("y", N, 1, bdl_metric_brier(a, wrong, r));
  REFUSES_INPUTS("y", N, 1, bdl_metric_ece(a, wrong, 15, r));
  REFUSES_INPUTS("upper", N, K, bdl_metric_coverage(a, wrong, a, r));
  REFUSES_INPUTS("y", N, K, bdl_metric_coverage(a, a, wrong, r));
  REFUSES_INPUTS("y", N, 1, bdl_metric_crps(a, wrong, r));
  REFUSED(BDL_ERROR_NOT_FINITE, "mean is not finite at row 2, column 1",
          bdl_metric_rmse(spoiled(N, K, 2, 1, (double)NAN), a, r));
  REFUSED(BDL_ERROR_NOT_FINITE, "probabilities is not finite at row 1, column 0",
          bdl_metric_accuracy(spoiled(N, K, 1, 0, (double)NAN), y, r));
  REFUSED(BDL_ERROR_NOT_FINITE, "draws is not finite at row 1, column 0",
          bdl_metric_crps(spoiled(N, K, 1, 0, (double)INFINITY), y, r));
  REFUSED(BDL_ERROR_NOT_FINITE, "lower is not finite at row 1, column 0",
          bdl_metric_coverage(spoiled(N, K, 1, 0, -(double)INFINITY), a, a, r));
  REFUSED(BDL_ERROR_SHAPE, "y has 2 rows, expected 3", bdl_metric_rmse(a, given(2, K), r));
  REFUSED(BDL_ERROR_SHAPE, "y has 2 rows, expected 3", bdl_metric_crps(a, given(2, 1), r));
  REFUSED(BDL_ERROR_SHAPE, "mean is empty", bdl_metric_rmse(bdl_none(), bdl_none(), r));
}

static void test_classification(void** state) {
  const double fractional[N] = {0, 0.5, 1}, high[N] = {0, 1, 2}, negative[N] = {-1, 0, 1},
               good[N] = {0, 1, 1};
  const bdl_matrix a = given(N, K), y = bdl_f64(good, N, 1);
  double* r = &out.number;
  (void)state;
  watch(NULL);
  REFUSED(BDL_ERROR_LABEL, "y is 0.5 at row 1", bdl_metric_accuracy(a, bdl_f64(fractional, N, 1), r));
  REFUSED(BDL_ERROR_LABEL, "y is 2 at row 2", bdl_metric_accuracy(a, bdl_f64(high, N, 1), r));
  REFUSED(BDL_ERROR_LABEL, "y is 2 at row 2", bdl_metric_brier(a, bdl_f64(high, N, 1), r));
  REFUSED(BDL_ERROR_LABEL, "y is 2 at row 2", bdl_metric_ece(given(N, 1), bdl_f64(high, N, 1), 15, r));
  REFUSED(BDL_ERROR_LABEL, "y is -1 at row 0", bdl_metric_brier(a, bdl_f64(negative, N, 1), r));
  REFUSED(INVALID, "probabilities is 1.5 at row 0, column 0",
          bdl_metric_brier(spoiled(N, K, 0, 0, 1.5), y, r));
  REFUSED(INVALID, "probabilities is -0.5 at row 0, column 0",
          bdl_metric_ece(spoiled(N, 1, 0, 0, -0.5), y, 15, r));
  REFUSED(INVALID, "probabilities has sum 0.7", bdl_metric_accuracy(spoiled(N, K, 0, 0, 0.2), y, r));
  REFUSED(INVALID, "bins is 0", bdl_metric_ece(a, y, 0, r));
  REFUSED(INVALID, "bins is -3", bdl_metric_ece(a, y, -3, r));
}

int test_errors_metrics(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_null_results), cmocka_unit_test(test_arrays),
                                     cmocka_unit_test(test_classification)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
