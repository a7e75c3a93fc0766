/**
 * @file metrics.h
 * Scores of predictions, on plain arrays: no handle is needed. Inputs must be finite.
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
 * Expected calibration error of the most probable class (Guo et al. 2017), in [0, 1]. Since 0.1.
 * @param probabilities n x K, or n x 1: P(y = 1)
 * @param y             n x 1 class numbers
 * @param bins          equal-width confidence bins, >= 1; 15 is customary
 * @param ece           receives sum_b n_b / n |accuracy_b - confidence_b|
 */
BDL_API bdl_status bdl_metric_ece(bdl_matrix probabilities, bdl_matrix y, int64_t bins, double* ece);

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
