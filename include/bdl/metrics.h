/**
 * @file metrics.h
 * Scores of predictions, on plain arrays: no handle is needed. Inputs must be finite.
 *
 * Probabilities are n x K of K >= 2 classes, or n x 1: P(y = 1). Those of an ensemble or of draws are averaged
 * before they are scored. Each is in [0, 1] up to 1e-6, and a row's sum is 1 up to 1e-4. Labels are n x 1 class
 * numbers from 0. docs/theory/predictions.md has the formulas.
 */
#ifndef BDL_METRICS_H
#define BDL_METRICS_H

#include "bdl/matrix.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Root mean squared error over all entries of mean and y (both n x C), in units of y. Since 0.1. */
BDL_API bdl_status bdl_metric_rmse(bdl_matrix mean, bdl_matrix y, double* rmse);

/**
 * Mean log predictive density per example, in nats. Since 0.1.
 * @param log_density    n x 1, from bdl_predict_log_density()
 * @param mean           receives the mean over examples
 * @param standard_error receives its standard error (0 for n = 1); may be NULL
 */
BDL_API bdl_status bdl_metric_log_predictive_density(bdl_matrix log_density, double* mean,
                                                     double* standard_error);

/**
 * Fraction of examples whose most probable class is the label, in [0, 1]. Since 0.1.
 * @param probabilities n x K class probabilities (K >= 2), or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param accuracy      receives the fraction
 */
BDL_API bdl_status bdl_metric_accuracy(bdl_matrix probabilities, bdl_matrix y, double* accuracy);

/**
 * Brier score: mean over examples of sum_k (p_k - [y = k])^2, in [0, 2] (Brier 1950); for n x 1
 * probabilities both classes count. Since 0.1.
 */
BDL_API bdl_status bdl_metric_brier(bdl_matrix probabilities, bdl_matrix y, double* brier);

/**
 * Mean of -log p of the labels, in nats. Since 0.2. BDL_ERROR_DIVERGED where a label's probability is 0.
 */
BDL_API bdl_status bdl_metric_nll(bdl_matrix probabilities, bdl_matrix y, double* nll);

/**
 * Expected calibration error of the most probable class (Guo et al. 2017), in [0, 1]. Since 0.1.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param bins          equal-width confidence bins ((b - 1) / bins, b / bins], >= 1; 15 is customary
 * @param ece           receives sum_b n_b / n |accuracy_b - confidence_b|
 */
BDL_API bdl_status bdl_metric_ece(bdl_matrix probabilities, bdl_matrix y, int64_t bins, double* ece);

/**
 * Computes the reliability diagram that the calibration error summarises. Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param curve         bins x 3, a row for each bin of bdl_metric_ece(): number of examples, accuracy, mean
 *                      confidence; the last two are NaN where there are no examples
 */
BDL_API bdl_status bdl_metric_calibration_curve(bdl_matrix probabilities, bdl_matrix y, bdl_matrix_out curve);

/**
 * Entropy of each row, -sum_k p_k log p_k, in nats. Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1), which is two classes
 * @param entropy       n x 1
 */
BDL_API bdl_status bdl_metric_entropy(bdl_matrix probabilities, bdl_matrix_out entropy);

/**
 * Numbers of rows by their entropy, in equal-width bins over [0, log K]. Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param counts        bins x 1: bin b holds ((b - 1), b] log K / bins, and the first entropy 0
 */
BDL_API bdl_status bdl_metric_entropy_histogram(bdl_matrix probabilities, bdl_matrix_out counts);

/**
 * Area under the ROC curve: P(a positive's score is higher than a negative's), equal scores counting half, in
 * [0, 1]. Since 0.2.
 * @param positive n x 1 scores, of which a higher one says positive
 * @param negative m x 1 scores
 */
BDL_API bdl_status bdl_metric_auroc(bdl_matrix positive, bdl_matrix negative, double* auroc);

/**
 * Area under the precision-recall curve as average precision: the sum over distinct scores, descending, of the
 * step in recall times the precision, in [0, 1]; n / (n + m) for scores that say nothing. Since 0.2.
 */
BDL_API bdl_status bdl_metric_aupr(bdl_matrix positive, bdl_matrix negative, double* aupr);

/**
 * Computes the false positive rate at a true positive rate of at least tpr; "FPR95" for tpr = 0.95. Since 0.2.
 * @param positive  n x 1 scores
 * @param negative  m x 1 scores
 * @param tpr       in (0, 1]
 * @param fpr       receives the fraction of negatives whose score is at least the threshold
 * @param threshold receives the largest score that a fraction tpr of the positives reaches; may be NULL
 */
BDL_API bdl_status bdl_metric_fpr(bdl_matrix positive, bdl_matrix negative, double tpr, double* fpr,
                                  double* threshold);

/**
 * Computes the least mean of both error rates over all thresholds, in [0, 1/2]. Since 0.2.
 */
BDL_API bdl_status bdl_metric_detection_error(bdl_matrix positive, bdl_matrix negative, double* error);

/**
 * Computes the ROC curve, from (0, 0) to (1, 1). Since 0.2.
 * @param positive n x 1 scores
 * @param negative m x 1 scores
 * @param curve    (n + m + 1) x 3: false positive rate, true positive rate, threshold. Row k is the point whose
 *                 threshold is the k-th largest score, so equal scores repeat theirs; row 0 has threshold
 *                 infinity.
 */
BDL_API bdl_status bdl_metric_roc_curve(bdl_matrix positive, bdl_matrix negative, bdl_matrix_out curve);

/** Measures of how certain a row of probabilities is. */
typedef enum bdl_score {
  BDL_SCORE_CONFIDENCE = 1, /**< the largest probability */
  BDL_SCORE_ENTROPY = 2,    /**< minus the entropy, in nats */
  BDL_SCORE_FORCE_INT32 = 0x7fffffff
} bdl_score;

/**
 * Measures whether certainty separates right predictions from wrong ones: the AUROC of right (positive) against
 * wrong. Since 0.2. BDL_ERROR_INVALID_ARGUMENT where all are right, or all wrong.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param score         by which certainty
 * @param auroc         receives it
 */
BDL_API bdl_status bdl_metric_auroc_correct(bdl_matrix probabilities, bdl_matrix y, bdl_score score,
                                            double* auroc);

/**
 * Measures of how well certainty separates examples of the training distribution (positive) from others. Later
 * versions append members; those that a caller's struct_size does not cover are not written:
 *
 *     bdl_ood_report report = {.struct_size = sizeof report};
 */
typedef struct bdl_ood_report {
  size_t struct_size;     /**< sizeof(bdl_ood_report), set by the caller */
  double auroc;           /**< area under the ROC curve */
  double aupr;            /**< average precision */
  double aupr_out;        /**< average precision with the others as positives */
  double fpr95;           /**< false positive rate at a true positive rate of 95 % */
  double threshold;       /**< the score where it is */
  double detection_error; /**< the least mean of both error rates */
  double entropy_inside;  /**< mean entropy of the training distribution's rows, in nats */
  double entropy_outside; /**< mean entropy of the others */
} bdl_ood_report;

/**
 * Measures out-of-distribution detection by certainty. Since 0.2.
 * @param inside  n x K probabilities of examples of the training distribution (n x 1: P(y = 1))
 * @param outside m x K probabilities of others
 * @param score   by which certainty
 * @param report  receives the scores
 */
BDL_API bdl_status bdl_metric_ood(bdl_matrix inside, bdl_matrix outside, bdl_score score,
                                  bdl_ood_report* report);

/**
 * Finds the temperature T in [1/1000, 1000] that minimises the mean of -log softmax(logits / T)_y on validation
 * data (Guo et al. 2017); it is above 1 if predictions are too certain. Since 0.2. It is at a limit if the data
 * determine no best one, as with logits that are right everywhere, and 1 where it makes no difference.
 * @param logits      n x K, K >= 2; log probabilities serve as well
 * @param y           n x 1 class numbers
 * @param temperature receives T
 */
BDL_API bdl_status bdl_temperature_fit(bdl_matrix logits, bdl_matrix y, double* temperature);

/**
 * Computes log softmax(logits / T), row by row. Since 0.2.
 * @param logits            n x K, K >= 2; log probabilities serve as well
 * @param temperature       T > 0
 * @param log_probabilities n x K, may be the same memory as logits
 */
BDL_API bdl_status bdl_temperature_apply(bdl_matrix logits, double temperature,
                                         bdl_matrix_out log_probabilities);

/** Fraction of entries of y inside [lower, upper] (all n x C), in [0, 1]. Since 0.1. */
BDL_API bdl_status bdl_metric_coverage(bdl_matrix lower, bdl_matrix upper, bdl_matrix y, double* coverage);

/**
 * Continuous ranked probability score of an ensemble, mean over examples, in units of y (Gneiting and
 * Raftery 2007; the unbiased "fair" form for S >= 2). Since 0.1.
 * @param draws n x S draws of y, from bdl_predict_draws()
 * @param y     n x 1
 * @param crps  receives the score; lower is better
 */
BDL_API bdl_status bdl_metric_crps(bdl_matrix draws, bdl_matrix y, double* crps);

#ifdef __cplusplus
}
#endif

#endif
