/* Scores of predictions, on plain arrays. */
#include "example.h"

enum { N = 4, M = 3, K = 3, BINS = 10 };

/* Class probabilities of digits 0, 1 and 2, and of letters, which the classifier
 * has never seen. */
static const double digits[N * K] = {0.8, 0.1, 0.1, 0.1,  0.7, 0.2,
                                     0.3, 0.3, 0.4, 0.05, 0.9, 0.05};
static const double letters[M * K] = {0.4,  0.3, 0.3,  0.2, 0.45,
                                      0.35, 0.3, 0.35, 0.35};
static const int32_t labels[N] = {0, 1, 1, 1};

static void regression(void) {
  /* [bdl_metric_rmse] */
  const double mean[] = {1.0, 2.0, 3.0}, y[] = {1.5, 2.0, 2.5};
  double rmse;
  CHECK(bdl_metric_rmse(bdl_f64(mean, 3, 1), bdl_f64(y, 3, 1), &rmse));
  printf("root mean squared error %.3f\n", rmse);
  /* [bdl_metric_rmse] */
  EXPECT(near_to(rmse, sqrt(0.5 / 3), 1e-15));

  /* [bdl_metric_log_predictive_density] */
  const double log_density[] = {-1.1, -0.9,
                                -1.3}; /* from bdl_predict_log_density() */
  double average, standard_error;
  CHECK(bdl_metric_log_predictive_density(bdl_f64(log_density, 3, 1),
                                          &average, &standard_error));
  printf("log predictive density %.2f +- %.2f nats\n", average,
         standard_error);
  /* [bdl_metric_log_predictive_density] */
  EXPECT(near_to(average, -1.1, 1e-15) &&
         near_to(standard_error, 0.2 / sqrt(3), 1e-15));

  /* [bdl_metric_coverage] */
  const double lower[] = {0.0, 1.0, 2.6}, upper[] = {2.0, 3.0, 4.0};
  double coverage;
  CHECK(bdl_metric_coverage(bdl_f64(lower, 3, 1), bdl_f64(upper, 3, 1),
                            bdl_f64(y, 3, 1), &coverage));
  printf("%.0f %% of the targets are in their intervals\n", 100 * coverage);
  /* [bdl_metric_coverage] */
  EXPECT(near_to(coverage, 2.0 / 3, 1e-15));

  /* [bdl_metric_crps] */
  const double draws[] = {1.0, 2.0, 1.0, 1.5, 2.5,
                          2.0, 2.0, 3.0, 3.5}; /* 3 for each y */
  double crps;
  CHECK(bdl_metric_crps(bdl_f64(draws, 3, 3), bdl_f64(y, 3, 1), &crps));
  printf("continuous ranked probability score %.3f\n", crps);
  /* [bdl_metric_crps] */
  EXPECT(crps > 0 && crps < 1);
}

static void classification(void) {
  /* [bdl_metric_accuracy] [bdl_metric_nll] [bdl_metric_brier] [bdl_metric_ece] */
  bdl_matrix p = bdl_f64(digits, N, K), y = bdl_i32(labels, N, 1);
  /* [bdl_metric_accuracy] [bdl_metric_nll] [bdl_metric_brier] [bdl_metric_ece] */

  /* [bdl_metric_accuracy] */
  double accuracy;
  CHECK(bdl_metric_accuracy(p, y, &accuracy));
  printf("accuracy %.2f\n", accuracy);
  /* [bdl_metric_accuracy] */
  EXPECT(near_to(accuracy, 0.75, 1e-12));

  /* [bdl_metric_nll] */
  double nll;
  CHECK(bdl_metric_nll(p, y, &nll));
  printf("negative log likelihood %.3f nats\n", nll);
  /* [bdl_metric_nll] */
  EXPECT(near_to(nll, -(log(0.8) + log(0.7) + log(0.3) + log(0.9)) / 4,
                 1e-12));

  /* [bdl_metric_brier] */
  double brier;
  CHECK(bdl_metric_brier(p, y, &brier));
  printf("Brier score %.3f\n", brier);
  /* [bdl_metric_brier] */
  EXPECT(brier > 0 && brier < 1);

  /* [bdl_metric_ece] */
  double ece;
  CHECK(bdl_metric_ece(p, y, 10, &ece)); /* ten bins */
  printf("expected calibration error %.3f\n", ece);
  /* [bdl_metric_ece] */
  EXPECT(ece > 0 && ece < 1);

  /* [bdl_metric_calibration_curve] */
  double curve[BINS][3];
  CHECK(bdl_metric_calibration_curve(bdl_f64(digits, N, K),
                                     bdl_i32(labels, N, 1),
                                     bdl_f64_out(curve[0], BINS, 3)));
  for (int bin = 0; bin < BINS; ++bin)
    if (curve[bin][0] > 0)
      printf("%g example(s) with confidence %.2f: accuracy %g\n",
             curve[bin][0], curve[bin][2], curve[bin][1]);
  /* [bdl_metric_calibration_curve] */
  double sum = 0;
  for (int bin = 0; bin < BINS; ++bin)
    if (curve[bin][0] > 0)
      sum += curve[bin][0] / N * fabs(curve[bin][1] - curve[bin][2]);
  EXPECT(near_to(sum, ece, 1e-12));
  EXPECT(curve[3][0] == 1 &&
         curve[3][1] == 0); /* 0.4 is in (0.3, 0.4], and wrong */
}

static void certainty(void) {
  /* [bdl_metric_entropy] */
  double entropy[M];
  CHECK(bdl_metric_entropy(bdl_f64(letters, M, K),
                           bdl_f64_out(entropy, M, 1)));
  printf("entropies %.2f, %.2f, %.2f nats; the largest possible is %.2f\n",
         entropy[0], entropy[1], entropy[2], log(3));
  /* [bdl_metric_entropy] */
  EXPECT(entropy[0] > 1 && entropy[0] < log(3));

  /* [bdl_metric_entropy_histogram] */
  double counts[BINS];
  CHECK(bdl_metric_entropy_histogram(bdl_f64(letters, M, K),
                                     bdl_f64_out(counts, BINS, 1)));
  printf("%g letters in the bin of the largest entropies\n",
         counts[BINS - 1]);
  /* [bdl_metric_entropy_histogram] */
  EXPECT(counts[BINS - 1] == M);

  /* [bdl_metric_auroc_correct] */
  double auroc; /* is the classifier less certain where it is wrong? */
  CHECK(bdl_metric_auroc_correct(bdl_f64(digits, N, K),
                                 bdl_i32(labels, N, 1),
                                 BDL_SCORE_CONFIDENCE, &auroc));
  printf("AUROC of right against wrong predictions %g\n", auroc);
  /* [bdl_metric_auroc_correct] */
  EXPECT(near_to(auroc, 1, 1e-12));

  /* [bdl_metric_ood] */
  bdl_ood_report report = {.struct_size = sizeof report};
  CHECK(bdl_metric_ood(bdl_f64(digits, N, K), bdl_f64(letters, M, K),
                       BDL_SCORE_ENTROPY, &report));
  printf(
      "digits against letters: AUROC %.2f, mean entropies %.2f and %.2f "
      "nats\n",
      report.auroc, report.entropy_inside, report.entropy_outside);
  /* [bdl_metric_ood] */
  EXPECT(report.auroc > 0.8 && report.aupr > 0.8 && report.aupr_out > 0.8);
  EXPECT(report.entropy_outside > report.entropy_inside);
  EXPECT(report.fpr95 <= 1 && report.threshold < 0 &&
         report.detection_error < 0.2);
}

/* Any score that is higher for positives than for negatives. */
static void scores(void) {
  /* [bdl_metric_auroc] [bdl_metric_aupr] [bdl_metric_fpr] [bdl_metric_detection_error] [bdl_metric_roc_curve] */
  const double inside[] = {3, 1, 2}, outside[] = {2, 0};
  bdl_matrix positive = bdl_f64(inside, 3, 1),
             negative = bdl_f64(outside, 2, 1);
  /* [bdl_metric_auroc] [bdl_metric_aupr] [bdl_metric_fpr] [bdl_metric_detection_error] [bdl_metric_roc_curve] */

  /* [bdl_metric_auroc] */
  double auroc;
  CHECK(bdl_metric_auroc(positive, negative, &auroc));
  printf("area under the ROC curve %g\n", auroc);
  /* [bdl_metric_auroc] */
  EXPECT(near_to(auroc, 0.75, 1e-12));

  /* [bdl_metric_aupr] */
  double aupr;
  CHECK(bdl_metric_aupr(positive, negative, &aupr));
  printf("average precision %.3f\n", aupr);
  /* [bdl_metric_aupr] */
  EXPECT(near_to(aupr, (1 + 2.0 / 3 + 3.0 / 4) / 3, 1e-12));

  /* [bdl_metric_fpr] */
  double fpr, threshold;
  CHECK(bdl_metric_fpr(positive, negative, 0.95, &fpr, &threshold));
  printf(
      "at threshold %g, where 95 %% of the positives are found, so are "
      "%.0f %% of "
      "the "
      "negatives\n",
      threshold, 100 * fpr);
  /* [bdl_metric_fpr] */
  EXPECT(near_to(fpr, 0.5, 1e-12) && near_to(threshold, 1, 1e-12));
  CHECK(bdl_metric_fpr(positive, negative, 0.95, &fpr, NULL));

  /* [bdl_metric_detection_error] */
  double error;
  CHECK(bdl_metric_detection_error(positive, negative, &error));
  printf("least mean of both error rates %g\n", error);
  /* [bdl_metric_detection_error] */
  EXPECT(near_to(error, 0.25, 1e-12));

  /* [bdl_metric_roc_curve] */
  double curve[3 + 2 + 1][3];
  CHECK(bdl_metric_roc_curve(positive, negative,
                             bdl_f64_out(curve[0], 6, 3)));
  for (int k = 0; k < 6; ++k)
    printf("false %.2f, true %.2f, threshold %g\n", curve[k][0],
           curve[k][1], curve[k][2]);
  /* [bdl_metric_roc_curve] */
  EXPECT(near_to(curve[5][0], 1, 1e-12) && near_to(curve[5][1], 1, 1e-12));
}

static void temperature(void) {
  /* [bdl_temperature_fit] */
  /* The classifier gives odds of 4 to 1, and is right in 2 of 3 cases: it is too
   * certain. */
  const double logits[] = {0, log(4), 0, log(4), 0, log(4)};
  const int32_t y[] = {1, 1, 0};
  double t;
  CHECK(bdl_temperature_fit(bdl_f64(logits, 3, 2), bdl_i32(y, 3, 1), &t));
  printf("temperature %.2f\n", t);
  /* [bdl_temperature_fit] */
  EXPECT(near_to(t, 2, 1e-12));

  /* [bdl_temperature_apply] */
  const double new_logits[] = {0, log(4)};
  double log_p[2];
  CHECK(bdl_temperature_apply(bdl_f64(new_logits, 1, 2), t,
                              bdl_f64_out(log_p, 1, 2)));
  printf("P(class 1) = %.3f\n", exp(log_p[1]));
  /* [bdl_temperature_apply] */
  EXPECT(near_to(exp(log_p[1]), 2.0 / 3, 1e-12));
}

int main(void) {
  regression();
  classification();
  certainty();
  scores();
  temperature();
  return 0;
}
