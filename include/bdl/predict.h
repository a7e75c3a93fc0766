/**
 * @file predict.h
 * Predictive distributions. Every function takes the same first arguments:
 *
 *   model, posterior   of the same dtype and number of parameters
 *   x                  n x inputs
 *   method, samples    how p(y | x) = E_q[p(y | f(x; theta))] is computed:
 *                        BDL_MONTE_CARLO  average over `samples` >= 1 draws of q
 *                        BDL_PLUG_IN      theta = mean of q; no epistemic uncertainty (samples ignored)
 *                        BDL_QUADRATURE   exact to rounding, by one-dimensional integrals (samples ignored):
 *                                         generalised linear models with one output
 *   seed               of the draws: equal seeds give equal parameter draws, whatever x
 *
 * The handles are only read: calls may run concurrently. Outputs may be bdl_none() if not wanted.
 */
#ifndef BDL_PREDICT_H
#define BDL_PREDICT_H

#include "bdl/matrix.h"
#include "bdl/model.h"
#include "bdl/posterior.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How expectations over the posterior are computed. */
typedef enum bdl_predict_method {
  BDL_MONTE_CARLO = 1, /**< average over posterior draws */
  BDL_PLUG_IN = 2,     /**< posterior mean only */
  BDL_QUADRATURE = 3   /**< exact, one-output generalised linear models */
} bdl_predict_method;

/**
 * Mean and the two kinds of variance of y; their sum is Var[y | x]. For BDL_CATEGORICAL y means the
 * one-hot vector. Since 0.1.
 * @param mean               receives n x C: E[y | x]
 * @param epistemic_variance receives n x C: Var_q[E[y | x, theta]], from not knowing theta
 * @param noise_variance     receives n x C: E_q[Var[y | x, theta]], from the likelihood
 */
BDL_API bdl_status bdl_predict(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                               bdl_predict_method method, int64_t samples, uint64_t seed, bdl_matrix mean,
                               bdl_matrix epistemic_variance, bdl_matrix noise_variance);

/**
 * Quantiles of y (noise included). BDL_GAUSSIAN: exact for the predictive mixture, to 1e-10 of its
 * scale; BDL_POISSON: the smallest count with at least that probability. Others: BDL_ERROR_UNSUPPORTED.
 * Since 0.1.
 * @param levels    1 x K probabilities in (0, 1)
 * @param quantiles receives n x (C K): column c K + k is output c at level k
 */
BDL_API bdl_status bdl_predict_quantiles(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                         bdl_predict_method method, int64_t samples, uint64_t seed,
                                         bdl_matrix levels, bdl_matrix quantiles);

/**
 * Central interval that holds y with the given probability: quantiles (1 -+ probability) / 2. Since 0.1.
 * @param probability in (0, 1)
 * @param lower       receives n x C
 * @param upper       receives n x C
 */
BDL_API bdl_status bdl_predict_interval(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        double probability, bdl_matrix lower, bdl_matrix upper);

/**
 * Class probabilities and their uncertainty, in nats. For BDL_BERNOULLI and BDL_CATEGORICAL; Others:
 * BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param probabilities      receives n x C: P(class) (BDL_CATEGORICAL) or P(y = 1) (BDL_BERNOULLI)
 * @param entropy            receives the predictive entropy: n x 1 (categorical) or n x C (Bernoulli)
 * @param mutual_information receives the part of the entropy due to not knowing theta (Houlsby et al.
 *                           2011), shape as entropy
 */
BDL_API bdl_status bdl_predict_classes(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                       bdl_predict_method method, int64_t samples, uint64_t seed,
                                       bdl_matrix probabilities, bdl_matrix entropy,
                                       bdl_matrix mutual_information);

/**
 * log E_q[p(y_i | x_i, theta)] of each example (jointly over its outputs), in nats. Since 0.1.
 * @param y           n x targets
 * @param log_density receives n x 1
 */
BDL_API bdl_status bdl_predict_log_density(const bdl_model* model, const bdl_posterior* posterior,
                                           bdl_matrix x, bdl_matrix y, bdl_predict_method method,
                                           int64_t samples, uint64_t seed, bdl_matrix log_density);

/**
 * Draws of y: for each example, draw k comes from parameter draw k (BDL_MONTE_CARLO only). For
 * BDL_CATEGORICAL the draws are class numbers. Since 0.1.
 * @param samples number of draws S
 * @param draws   receives n x (targets S): column t S + k is target t of draw k
 */
BDL_API bdl_status bdl_predict_draws(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                     int64_t samples, uint64_t seed, bdl_matrix draws);

#ifdef __cplusplus
}
#endif

#endif
