/* Calls that the functions of metrics.h refuse. */
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
  REFUSED(INVALID, "nll is NULL", bdl_metric_nll(given(N, 1), given(N, 1), NULL));
  REFUSED(INVALID, "auroc is NULL", bdl_metric_auroc(given(N, 1), given(N, 1), NULL));
  REFUSED(INVALID, "aupr is NULL", bdl_metric_aupr(given(N, 1), given(N, 1), NULL));
  REFUSED(INVALID, "fpr is NULL", bdl_metric_fpr(given(N, 1), given(N, 1), 0.95, NULL, &out.other));
  REFUSED(INVALID, "error is NULL", bdl_metric_detection_error(given(N, 1), given(N, 1), NULL));
  REFUSED(INVALID, "auroc is NULL",
          bdl_metric_auroc_correct(given(N, K), given(N, 1), BDL_SCORE_ENTROPY, NULL));
  REFUSED(INVALID, "report is NULL", bdl_metric_ood(given(N, K), given(N, K), BDL_SCORE_ENTROPY, NULL));
  REFUSED(INVALID, "temperature is NULL", bdl_temperature_fit(given(N, K), given(N, 1), NULL));
  REFUSED(INVALID, "coverage is NULL", bdl_metric_coverage(given(N, K), given(N, K), given(N, K), NULL));
  REFUSED(INVALID, "elpd is NULL", bdl_metric_waic(given(N, K), bdl_none_out(), NULL, NULL, NULL));
  REFUSED(INVALID, "elpd is NULL", bdl_metric_loo(given(N, K), bdl_none_out(), NULL, NULL, NULL));
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
  REFUSED(BDL_ERROR_NOT_FINITE, "log_likelihood is not finite at row 1, column 0",
          bdl_metric_loo(spoiled(N, K, 1, 0, -(double)INFINITY), bdl_none_out(), r, NULL, NULL));
  REFUSED(BDL_ERROR_SHAPE, "log_likelihood has 1 rows, expected 2 draws or more",
          bdl_metric_waic(given(1, K), bdl_none_out(), r, NULL, NULL));
  for (int number = 1; number < BAD_OUTPUTS; ++number) { /* it may be absent */
    const bad_matrix two = bad_output(number, into(K, 2), "pointwise");
    REFUSED(two.status, two.fragment, bdl_metric_waic(a, two.output, r, NULL, NULL));
    const bad_matrix three = bad_output(number, into(K, 3), "pointwise");
    REFUSED(three.status, three.fragment, bdl_metric_loo(a, three.output, r, NULL, NULL));
  }
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

static void test_probabilities(void** state) {
  const double labels[N] = {0, 1, 1}, high[N] = {0, 1, 2}, certain[N * K] = {1, 0, 0.5, 0.5, 1, 0};
  const bdl_matrix a = given(N, K), y = bdl_f64(labels, N, 1);
  double* r = &out.number;
  (void)state;
  watch(NULL);
  REFUSES_INPUTS("y", N, 1, bdl_metric_nll(a, wrong, r));
  REFUSES_INPUTS("y", N, 1, bdl_metric_calibration_curve(a, wrong, into(5, 3)));
  REFUSES_INPUTS("y", N, 1, bdl_metric_auroc_correct(a, wrong, BDL_SCORE_ENTROPY, r));
  REFUSED(BDL_ERROR_LABEL, "y is 2 at row 2", bdl_metric_nll(a, bdl_f64(high, N, 1), r));
  REFUSED(BDL_ERROR_LABEL, "y is 2 at row 2",
          bdl_metric_calibration_curve(a, bdl_f64(high, N, 1), into(5, 3)));
  REFUSED(BDL_ERROR_DIVERGED, "gives probability 0 to label 1 of row 2 (counting from 0)",
          bdl_metric_nll(bdl_f64(certain, N, K), y, r));
  REFUSED(INVALID, "probabilities is 1.5", bdl_metric_entropy(spoiled(N, K, 0, 0, 1.5), into(N, 1)));
  REFUSED(INVALID, "probabilities has sum 0.7",
          bdl_metric_entropy_histogram(spoiled(N, K, 0, 0, 0.2), into(N, 1)));
  REFUSED(BDL_ERROR_NOT_FINITE, "probabilities is not finite at row 1, column 1",
          bdl_metric_entropy(spoiled(N, K, 1, 1, (double)NAN), into(N, 1)));
  REFUSED(BDL_ERROR_SHAPE, "probabilities is empty", bdl_metric_entropy(bdl_none(), into(N, 1)));
  REFUSES_OUTPUTS("entropy", N, 1, bdl_metric_entropy(a, wrong));
  REFUSES_SOME_OUTPUTS(BAD_SHAPES + 1, "counts", 5, 1, bdl_metric_entropy_histogram(a, wrong));
  REFUSES_SOME_OUTPUTS(BAD_SHAPES + 1, "curve", 5, 3, bdl_metric_calibration_curve(a, y, wrong));
  REFUSED(INVALID, "score is 0, expected 1 to 2", bdl_metric_auroc_correct(a, y, (bdl_score)0, r));
  REFUSED(INVALID, "score is 3, expected 1 to 2", bdl_metric_auroc_correct(a, y, (bdl_score)3, r));
}

static void test_one_kind_of_outcome(void** state) {
  const double right[] = {0, 0}, wrong_ones[] = {1, 1};
  const bdl_matrix a = given(2, K); /* ties: class 0 */
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "predicts all of the labels y, expected some and not all",
          bdl_metric_auroc_correct(a, bdl_f64(right, 2, 1), BDL_SCORE_CONFIDENCE, &out.number));
  REFUSED(INVALID, "predicts none of the labels y, expected some and not all",
          bdl_metric_auroc_correct(a, bdl_f64(wrong_ones, 2, 1), BDL_SCORE_CONFIDENCE, &out.number));
}

static void test_scores(void** state) {
  const bdl_matrix a = given(N, 1);
  const double not_rates[] = {0, -0.5, 1.5, (double)NAN};
  double *r = &out.number, *t = &out.other;
  (void)state;
  watch(NULL);
  REFUSES_INPUTS("positive", N, 1, bdl_metric_auroc(wrong, a, r));
  REFUSES_INPUTS("negative", N, 1, bdl_metric_auroc(a, wrong, r));
  REFUSES_INPUTS("positive", N, 1, bdl_metric_aupr(wrong, a, r));
  REFUSES_INPUTS("negative", N, 1, bdl_metric_aupr(a, wrong, r));
  REFUSES_INPUTS("positive", N, 1, bdl_metric_fpr(wrong, a, 0.95, r, t));
  REFUSES_INPUTS("negative", N, 1, bdl_metric_fpr(a, wrong, 0.95, r, t));
  REFUSES_INPUTS("positive", N, 1, bdl_metric_detection_error(wrong, a, r));
  REFUSES_INPUTS("negative", N, 1, bdl_metric_detection_error(a, wrong, r));
  REFUSES_INPUTS("negative", N, 1, bdl_metric_roc_curve(a, wrong, into(2 * N + 1, 3)));
  REFUSES_OUTPUTS("curve", 2 * N + 1, 3, bdl_metric_roc_curve(a, a, wrong));
  for (int i = 0; i < 4; ++i)
    REFUSED(INVALID, "expected a number in (0, 1]", bdl_metric_fpr(a, a, not_rates[i], r, t));
}

static void test_reports(void** state) {
  const bdl_matrix a = given(N, K);
  bdl_ood_report report, before;
  (void)state;
  watch(NULL);
  memset(&report, 0xA5, sizeof report);
  report.struct_size = sizeof report;
  before = report;
  REFUSED(INVALID, "inside is 1.5", bdl_metric_ood(spoiled(N, K, 0, 0, 1.5), a, BDL_SCORE_ENTROPY, &report));
  REFUSED(INVALID, "outside has sum 0.7",
          bdl_metric_ood(a, spoiled(N, K, 0, 0, 0.2), BDL_SCORE_ENTROPY, &report));
  REFUSED(BDL_ERROR_NOT_FINITE, "outside is not finite at row 1, column 1",
          bdl_metric_ood(a, spoiled(N, K, 1, 1, (double)NAN), BDL_SCORE_ENTROPY, &report));
  REFUSED(BDL_ERROR_SHAPE, "outside has 1 columns, expected 2",
          bdl_metric_ood(a, given(N, 1), BDL_SCORE_ENTROPY, &report));
  REFUSED(BDL_ERROR_SHAPE, "outside is empty", bdl_metric_ood(a, bdl_none(), BDL_SCORE_ENTROPY, &report));
  REFUSED(BDL_ERROR_SHAPE, "inside is empty", bdl_metric_ood(bdl_none(), a, BDL_SCORE_ENTROPY, &report));
  REFUSED(INVALID, "score is 7, expected 1 to 2", bdl_metric_ood(a, a, (bdl_score)7, &report));
  assert_memory_equal(&report, &before, sizeof report);
  report.struct_size = 0;
  REFUSED(INVALID, "report has struct_size 0, expected sizeof(bdl_ood_report): ",
          bdl_metric_ood(a, a, BDL_SCORE_ENTROPY, &report));
  report.struct_size = sizeof report + sizeof(double);
  REFUSED(INVALID, "report has struct_size", bdl_metric_ood(a, a, BDL_SCORE_ENTROPY, &report));
}

static void test_temperatures(void** state) {
  const double labels[N] = {0, 1, 1}, high[N] = {0, 1, 2}, far[] = {1e308, -1e308};
  const double not_temperatures[] = {0, -1, (double)NAN, (double)INFINITY};
  const bdl_matrix a = given(N, K), y = bdl_f64(labels, N, 1);
  double* r = &out.number;
  (void)state;
  watch(NULL);
  REFUSES_INPUTS("y", N, 1, bdl_temperature_fit(a, wrong, r));
  REFUSED(BDL_ERROR_LABEL, "y is 2 at row 2", bdl_temperature_fit(a, bdl_f64(high, N, 1), r));
  REFUSED(BDL_ERROR_NOT_FINITE, "logits is not finite at row 1, column 0",
          bdl_temperature_fit(spoiled(N, K, 1, 0, -(double)INFINITY), y, r));
  REFUSED(BDL_ERROR_SHAPE, "logits has 1 column, expected at least 2",
          bdl_temperature_fit(given(N, 1), y, r));
  REFUSED(BDL_ERROR_SHAPE, "logits is empty", bdl_temperature_fit(bdl_none(), y, r));
  REFUSED(BDL_ERROR_SHAPE, "logits has 1 column", bdl_temperature_apply(given(N, 1), 1, into(N, 1)));
  REFUSED(BDL_ERROR_NOT_FINITE, "logits is not finite at row 1, column 0",
          bdl_temperature_apply(spoiled(N, K, 1, 0, (double)NAN), 1, into(N, K)));
  REFUSED(BDL_ERROR_DIVERGED, "log_probabilities would not be finite at row 0, column 1",
          bdl_temperature_apply(bdl_f64(far, 1, 2), 1, into(1, 2)));
  REFUSES_OUTPUTS("log_probabilities", N, K, bdl_temperature_apply(a, 1, wrong));
  for (int i = 0; i < 4; ++i)
    REFUSED(INVALID, "expected a number above 0", bdl_temperature_apply(a, not_temperatures[i], into(N, K)));
}

int test_errors_metrics(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_null_results),
                                     cmocka_unit_test(test_arrays),
                                     cmocka_unit_test(test_classification),
                                     cmocka_unit_test(test_probabilities),
                                     cmocka_unit_test(test_one_kind_of_outcome),
                                     cmocka_unit_test(test_scores),
                                     cmocka_unit_test(test_reports),
                                     cmocka_unit_test(test_temperatures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
