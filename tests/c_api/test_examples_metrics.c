/* Scores of a classifier's probabilities, the way a newcomer would ask for them. */
#include "c_api_test.h"

enum { N = 4, M = 3, K = 3, BINS = 10 };

/* Class probabilities of digits 0, 1 and 2, and of letters, which the classifier has never seen. */
static const double digits[N * K] = {0.8, 0.1, 0.1, 0.1, 0.7, 0.2, 0.3, 0.3, 0.4, 0.05, 0.9, 0.05};
static const double letters[M * K] = {0.4, 0.3, 0.3, 0.2, 0.45, 0.35, 0.3, 0.35, 0.35};
static const int32_t labels[N] = {0, 1, 1, 1};

static bdl_matrix p(void) {
  return bdl_f64(digits, N, K);
}

static bdl_matrix y(void) {
  return bdl_i32(labels, N, 1);
}

static void near_to(double got, double expected) {
  assert_true(fabs(got - expected) < 1e-12);
}

static void example_classification(void** state) {
  double accuracy = 0, nll = 0, brier = 0, ece = 0;
  (void)state;
  OK(bdl_metric_accuracy(p(), y(), &accuracy));
  OK(bdl_metric_nll(p(), y(), &nll));
  OK(bdl_metric_brier(p(), y(), &brier));
  OK(bdl_metric_ece(p(), y(), BINS, &ece));
  near_to(accuracy, 0.75);
  near_to(nll, -(log(0.8) + log(0.7) + log(0.3) + log(0.9)) / 4);
  assert_true(brier > 0 && ece > 0 && ece < 1);
}

/* A reliability diagram has a point for each bin with examples. */
static void example_calibration_curve(void** state) {
  double curve[BINS * 3], ece = 0, sum = 0;
  (void)state;
  OK(bdl_metric_calibration_curve(p(), y(), bdl_f64_out(curve, BINS, 3)));
  OK(bdl_metric_ece(p(), y(), BINS, &ece));
  for (int bin = 0; bin < BINS; ++bin) {
    const double count = curve[3 * bin], accuracy = curve[3 * bin + 1], confidence = curve[3 * bin + 2];
    if (count > 0) sum += count / N * fabs(accuracy - confidence);
  }
  near_to(sum, ece);
  near_to(curve[3 * 3], 1); /* 0.4 is in (0.3, 0.4] and wrong */
  near_to(curve[3 * 3 + 1], 0);
}

static void example_entropy(void** state) {
  double entropy[M] = {0, 0, 0}, counts[BINS], total = 0;
  (void)state;
  OK(bdl_metric_entropy(bdl_f64(letters, M, K), bdl_f64_out(entropy, M, 1)));
  OK(bdl_metric_entropy_histogram(bdl_f64(letters, M, K), bdl_f64_out(counts, BINS, 1)));
  for (int bin = 0; bin < BINS; ++bin) total += counts[bin];
  assert_true(entropy[0] > 1 && entropy[0] < log(3));
  near_to(total, M);
  near_to(counts[BINS - 1], M); /* it does not know, and says so */
}

/* Does it know when it is wrong? */
static void example_auroc_correct(void** state) {
  double auroc = 0;
  (void)state;
  OK(bdl_metric_auroc_correct(p(), y(), BDL_SCORE_CONFIDENCE, &auroc));
  near_to(auroc, 1);
}

static void example_out_of_distribution(void** state) {
  bdl_ood_report report = {.struct_size = sizeof report};
  (void)state;
  OK(bdl_metric_ood(p(), bdl_f64(letters, M, K), BDL_SCORE_ENTROPY, &report));
  assert_true(report.auroc > 0.8 && report.aupr > 0.8 && report.aupr_out > 0.8);
  assert_true(report.entropy_outside > report.entropy_inside);
  assert_true(report.fpr95 <= 1 && report.threshold < 0 && report.detection_error < 0.2);
}

/* Any scores of yours: here, of how certain it is. */
static void example_ranks(void** state) {
  const double inside[] = {3, 1, 2}, outside[] = {2, 0};
  const bdl_matrix positive = bdl_f64(inside, 3, 1), negative = bdl_f64(outside, 2, 1);
  double auroc = 0, aupr = 0, fpr = 0, threshold = 0, error = 0, curve[6 * 3];
  (void)state;
  OK(bdl_metric_auroc(positive, negative, &auroc));
  OK(bdl_metric_aupr(positive, negative, &aupr));
  OK(bdl_metric_fpr(positive, negative, 0.95, &fpr, &threshold));
  OK(bdl_metric_fpr(positive, negative, 0.95, &fpr, NULL));
  OK(bdl_metric_detection_error(positive, negative, &error));
  OK(bdl_metric_roc_curve(positive, negative, bdl_f64_out(curve, 6, 3)));
  near_to(auroc, 0.75);
  near_to(aupr, (1 + 2.0 / 3 + 3.0 / 4) / 3);
  near_to(fpr, 0.5);
  near_to(threshold, 1);
  near_to(error, 0.25);
  near_to(curve[3 * 5], 1); /* the last point is (1, 1) */
  near_to(curve[3 * 5 + 1], 1);
}

/* On validation data it is certain at 4 to 1 and right 2 of 3 times: it should be certain at 2 to 1. */
static void example_temperature(void** state) {
  const double logits[] = {0, log(4), 0, log(4), 0, log(4)}, test[] = {0, log(4)};
  const int32_t validation[] = {1, 1, 0};
  double temperature = 0, log_p[2] = {0, 0};
  (void)state;
  OK(bdl_temperature_fit(bdl_f64(logits, 3, 2), bdl_i32(validation, 3, 1), &temperature));
  near_to(temperature, 2);
  OK(bdl_temperature_apply(bdl_f64(test, 1, 2), temperature, bdl_f64_out(log_p, 1, 2)));
  near_to(exp(log_p[1]), 2.0 / 3);
}

int test_examples_metrics(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_classification), cmocka_unit_test(example_calibration_curve),
      cmocka_unit_test(example_entropy),        cmocka_unit_test(example_auroc_correct),
      cmocka_unit_test(example_ranks),          cmocka_unit_test(example_out_of_distribution),
      cmocka_unit_test(example_temperature)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
