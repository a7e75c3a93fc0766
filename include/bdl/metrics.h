/**
 * @file metrics.h
 * Scores of predictions, on plain arrays: no handle is needed. Inputs must be finite.
 *
 * Class probabilities are n x K for K >= 2 classes, or n x 1 for P(y = 1). Average the probabilities of an
 * ensemble or of samples before you score them. Each probability must be in [0, 1] up to 1e-6, and the sum
 * of a row must be 1 up to 1e-4. Labels are n x 1 class numbers from 0. docs/theory/predictions.md has the
 * formulas.
 */
#ifndef BDL_METRICS_H
#define BDL_METRICS_H

#include "bdl/matrix.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Computes the root mean squared error over all entries, in units of y. Since 0.1.
 * @param mean n x C predicted means
 * @param y    n x C targets
 * @param rmse receives the error
 */
BDL_API bdl_status bdl_metric_rmse(bdl_matrix mean, bdl_matrix y, double* rmse);

/**
 * Computes the mean log predictive density of an example, in nats. Since 0.1.
 * @param log_density    n x 1, from bdl_predict_log_density()
 * @param mean           receives the mean over examples
 * @param standard_error receives its standard error (0 for n = 1); may be NULL
 */
BDL_API bdl_status bdl_metric_log_predictive_density(bdl_matrix log_density, double* mean,
                                                     double* standard_error);

/**
 * Computes the fraction of examples whose most probable class is the label, in [0, 1]. Since 0.1.
 * @param probabilities n x K class probabilities (K >= 2), or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param accuracy      receives the fraction
 */
BDL_API bdl_status bdl_metric_accuracy(bdl_matrix probabilities, bdl_matrix y, double* accuracy);

/**
 * Computes the Brier score: the mean over examples of sum_k (p_k - [y = k])^2, in [0, 2] (Brier 1950). With
 * n x 1 probabilities both classes count. Since 0.1.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param brier         receives the score; lower is better
 */
BDL_API bdl_status bdl_metric_brier(bdl_matrix probabilities, bdl_matrix y, double* brier);

/**
 * Computes the mean of -log p of the labels, in nats. Returns BDL_ERROR_DIVERGED if the probability of a
 * label is 0. Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param nll           receives the mean; lower is better
 */
BDL_API bdl_status bdl_metric_nll(bdl_matrix probabilities, bdl_matrix y, double* nll);

/**
 * Computes the expected calibration error of the most probable class (Guo et al. 2017), in [0, 1]. Since
 * 0.1.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param bins          number of confidence bins ((b - 1) / bins, b / bins] of equal width, >= 1; 15 is
 *                      customary
 * @param ece           receives sum_b n_b / n |accuracy_b - confidence_b|
 */
BDL_API bdl_status bdl_metric_ece(bdl_matrix probabilities, bdl_matrix y, int64_t bins, double* ece);

/**
 * Computes the reliability diagram that the calibration error summarises. Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param curve         bins x 3, a row for each bin of bdl_metric_ece(): number of examples, accuracy, mean
 *                      confidence. The last two are NaN in bins without examples
 */
BDL_API bdl_status bdl_metric_calibration_curve(bdl_matrix probabilities, bdl_matrix y, bdl_matrix_out curve);

/**
 * Computes the entropy of each row, -sum_k p_k log p_k, in nats. Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1) of two classes
 * @param entropy       receives n x 1
 */
BDL_API bdl_status bdl_metric_entropy(bdl_matrix probabilities, bdl_matrix_out entropy);

/**
 * Counts rows by their entropy, in bins of equal width over [0, log K]. Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param counts        receives bins x 1: bin b counts entropies in ((b - 1), b] log K / bins, and the
 *                      first bin also entropy 0
 */
BDL_API bdl_status bdl_metric_entropy_histogram(bdl_matrix probabilities, bdl_matrix_out counts);

/**
 * Computes the area under the ROC curve: the probability that the score of a positive is higher than that
 * of a negative, where equal scores count half. Since 0.2.
 * @param positive n x 1 scores of positives, which should be the higher ones
 * @param negative m x 1 scores of negatives
 * @param auroc    receives the area, in [0, 1]
 */
BDL_API bdl_status bdl_metric_auroc(bdl_matrix positive, bdl_matrix negative, double* auroc);

/**
 * Computes the area under the precision-recall curve as average precision: the sum over distinct scores,
 * descending, of the step in recall times the precision. Scores without information give n / (n + m). Since
 * 0.2.
 * @param positive n x 1 scores
 * @param negative m x 1 scores
 * @param aupr     receives the area, in [0, 1]
 */
BDL_API bdl_status bdl_metric_aupr(bdl_matrix positive, bdl_matrix negative, double* aupr);

/**
 * Computes the false positive rate at a true positive rate of at least tpr; tpr = 0.95 gives "FPR95". Since
 * 0.2.
 * @param positive  n x 1 scores
 * @param negative  m x 1 scores
 * @param tpr       in (0, 1]
 * @param fpr       receives the fraction of negatives whose score is at least the threshold
 * @param threshold receives the largest score that a fraction tpr of the positives reaches; may be NULL
 */
BDL_API bdl_status bdl_metric_fpr(bdl_matrix positive, bdl_matrix negative, double tpr, double* fpr,
                                  double* threshold);

/**
 * Computes the least mean of both error rates over all thresholds. Since 0.2.
 * @param positive n x 1 scores
 * @param negative m x 1 scores
 * @param error    receives the error, in [0, 1/2]
 */
BDL_API bdl_status bdl_metric_detection_error(bdl_matrix positive, bdl_matrix negative, double* error);

/**
 * Computes the ROC curve, from (0, 0) to (1, 1). Since 0.2.
 * @param positive n x 1 scores
 * @param negative m x 1 scores
 * @param curve    receives (n + m + 1) x 3: false positive rate, true positive rate, threshold. The
 *                 threshold of row k is the k-th largest score, so equal scores give equal rows. Row 0 has
 *                 threshold infinity
 */
BDL_API bdl_status bdl_metric_roc_curve(bdl_matrix positive, bdl_matrix negative, bdl_matrix_out curve);

/** Measures of the certainty of a row of probabilities. */
typedef enum bdl_score {
  BDL_SCORE_CONFIDENCE = 1, /**< the largest probability */
  BDL_SCORE_ENTROPY = 2,    /**< minus the entropy, in nats */
  BDL_SCORE_FORCE_INT32 = 0x7fffffff
} bdl_score;

/**
 * Measures whether certainty separates right predictions from wrong ones, by the AUROC of right (positive)
 * against wrong predictions. Returns BDL_ERROR_INVALID_ARGUMENT if all predictions are right, or all wrong.
 * Since 0.2.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param score         measure of certainty
 * @param auroc         receives the area
 */
BDL_API bdl_status bdl_metric_auroc_correct(bdl_matrix probabilities, bdl_matrix y, bdl_score score,
                                            double* auroc);

/**
 * Scores of how well certainty separates examples of the training distribution (positives) from other
 * examples. Later versions append members; members beyond the caller's struct_size are not written.
 *
 *     bdl_ood_report report = {.struct_size = sizeof report};
 */
typedef struct bdl_ood_report {
  size_t struct_size;     /**< sizeof(bdl_ood_report), set by the caller */
  double auroc;           /**< area under the ROC curve */
  double aupr;            /**< average precision */
  double aupr_out;        /**< average precision with the other examples as positives */
  double fpr95;           /**< false positive rate at a true positive rate of 95 % */
  double threshold;       /**< the score at which fpr95 is measured */
  double detection_error; /**< the least mean of both error rates */
  double entropy_inside;  /**< mean entropy of rows of the training distribution, in nats */
  double entropy_outside; /**< mean entropy of the other rows, in nats */
} bdl_ood_report;

/**
 * Measures how well certainty detects examples from outside of the training distribution. Since 0.2.
 * @param inside  n x K probabilities of examples of the training distribution (n x 1: P(y = 1))
 * @param outside m x K probabilities of other examples
 * @param score   measure of certainty
 * @param report  receives the scores
 */
BDL_API bdl_status bdl_metric_ood(bdl_matrix inside, bdl_matrix outside, bdl_score score,
                                  bdl_ood_report* report);

/**
 * Finds the temperature T in [1/1000, 1000] that minimises the mean of -log softmax(logits / T)_y on
 * validation data (Guo et al. 2017). T is above 1 if predictions are too certain. T is at a limit if no
 * best value exists, as with logits that are right everywhere, and 1 if the temperature makes no
 * difference. Since 0.2.
 * @param logits      n x K, K >= 2; log probabilities also serve
 * @param y           n x 1 class numbers
 * @param temperature receives T
 */
BDL_API bdl_status bdl_temperature_fit(bdl_matrix logits, bdl_matrix y, double* temperature);

/**
 * Computes log softmax(logits / T), row by row. Since 0.2.
 * @param logits            n x K, K >= 2; log probabilities also serve
 * @param temperature       T > 0
 * @param log_probabilities receives n x K, may be the same memory as logits
 */
BDL_API bdl_status bdl_temperature_apply(bdl_matrix logits, double temperature,
                                         bdl_matrix_out log_probabilities);

/**
 * Computes the fraction of entries of y inside [lower, upper]. Since 0.1.
 * @param lower    n x C lower bounds
 * @param upper    n x C upper bounds
 * @param y        n x C targets
 * @param coverage receives the fraction, in [0, 1]
 */
BDL_API bdl_status bdl_metric_coverage(bdl_matrix lower, bdl_matrix upper, bdl_matrix y, double* coverage);

/**
 * Computes the continuous ranked probability score of samples, as a mean over examples, in units of y
 * (Gneiting and Raftery 2007; the unbiased "fair" form for S >= 2). Since 0.1.
 * @param draws n x S samples of y, from bdl_predict_draws()
 * @param y     n x 1 targets
 * @param crps  receives the score; lower is better
 */
BDL_API bdl_status bdl_metric_crps(bdl_matrix draws, bdl_matrix y, double* crps);

/**
 * Estimates the expected log predictive density (elpd) of n new examples by the widely applicable information
 * criterion (Watanabe 2010; Vehtari, Gelman, Gabry 2017, Practical Bayesian model evaluation, equations 11
 * and 12): elpd_i = log mean_s exp(l_si) - p_i, where p_i = var_s(l_si) is the effective number of parameters
 * that row i takes. Trust bdl_metric_loo() more: p_i above 0.4 are signs of failure. Since 0.4.
 * @param log_likelihood        S x n log likelihoods l_si of bdl_predict_log_likelihood(), one row a draw; S >= 2
 * @param pointwise             receives n x 2: elpd_i and p_i; may be bdl_none_out()
 * @param elpd                  receives the sum of elpd_i, in nats; WAIC is -2 elpd
 * @param standard_error        receives sqrt(n var_i(elpd_i)), 0 for n = 1; may be NULL
 * @param effective_parameters  receives the sum of p_i; may be NULL
 */
BDL_API bdl_status bdl_metric_waic(bdl_matrix log_likelihood, bdl_matrix_out pointwise, double* elpd,
                                   double* standard_error, double* effective_parameters);

/**
 * Estimates the expected log predictive density (elpd) of n new examples by leave-one-out cross-validation
 * without new fits: by importance sampling from the posterior, with Pareto-smoothed weights (PSIS; Vehtari,
 * Gelman, Gabry 2017; Vehtari et al. 2024, Pareto smoothed importance sampling). The shape k_i of a
 * generalised Pareto distribution, fitted to the largest ceil(min(S / 5, 3 sqrt(S))) weights of row i (Zhang
 * and Stephens 2009), tells how far elpd_i can be trusted: not if k_i > min(1 - 1 / log10(S), 0.7). Leave
 * such rows out and fit again. Draws of an approximate posterior give the elpd of that approximation, as if
 * it were the posterior. Since 0.4.
 * @param log_likelihood        S x n log likelihoods l_si of bdl_predict_log_likelihood(), one row a draw; S >= 2
 * @param pointwise             receives n x 3: elpd_i, p_i = log mean_s exp(l_si) - elpd_i, and k_i; may be
 *                              bdl_none_out(). k_i is infinite for fewer than 21 draws, which have too few
 *                              large weights, and 0 if the largest weights are equal
 * @param elpd                  receives the sum of elpd_i, in nats; LOOIC is -2 elpd
 * @param standard_error        receives sqrt(n var_i(elpd_i)), 0 for n = 1; may be NULL
 * @param effective_parameters  receives the sum of p_i; may be NULL
 */
BDL_API bdl_status bdl_metric_loo(bdl_matrix log_likelihood, bdl_matrix_out pointwise, double* elpd,
                                  double* standard_error, double* effective_parameters);

#ifdef __cplusplus
}
#endif

#endif
