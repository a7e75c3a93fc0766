/**
 * @file online.h
 * Streams: an optimizer that learns from one observation (or one block of them) after the other, as a
 * Bayesian filter does. The posterior before an observation is its prior; time may pass in between.
 *
 * Every rule, curvature estimate and family works with every other (Jones, Chang, Murphy 2024, "Bayesian
 * Online Natural Gradient"); only a low-rank posterior and "mc-hess" do not go together, and "mc-reparam" is
 * for diagonal posteriors. Rule "map" is for batches.
 *
 *   option "rule"
 *     bong  one natural-gradient step on the expected log likelihood, of length 1: exact Bayes in
 *           conjugate models with a full posterior
 *     blr   `iterations` natural-gradient steps on that minus KL(q || prior), of length `learning_rate`
 *     bog   one plain gradient step on the expected log likelihood, of length `learning_rate`
 *     bbb   `iterations` plain gradient steps on that minus KL(q || prior), of length `learning_rate`
 *   option "curvature"
 *     mc-ef, mc-ggn, mc-hess  at `samples` posterior samples; mc-hess (exact Hessians) needs a network
 *     lin-hess, lin-ef        linearised at the mean, without samples
 *     exact-hess              the expectations themselves: networks of one layer and one output only
 *   the posterior
 *     low rank (rank 0: diagonal), full, full-moment, diagonal-moment
 *
 * Methods are names for combinations: "bong", "blr", "bog", "online-bbb" (with lin-hess), "rvga" (bong,
 * mc-hess, full), "cm-ekf" or "ekf" (bong, lin-hess, full), "vd-ekf" (bong, lin-hess, diagonal), "lo-fi"
 * (bong, lin-hess, low rank).
 *
 * Positive definiteness: steps with exact Hessians, plain gradients and steps of moment families can lose it.
 * Such a step is recognised before it is taken and shortened: where it would leave less than 1e-8 of the
 * former precision (of the covariance, in moment families), it leaves half. bdl_optimizer_shortened_steps()
 * counts them; option "indefinite" = "error" refuses them with BDL_ERROR_DIVERGED instead. With
 * "improved", and by default with curvature "mc-reparam", natural steps of precisions are taken to second order,
 * which never loses it (Lin, Schmidt, Khan 2020).
 */
#ifndef BDL_ONLINE_H
#define BDL_ONLINE_H

#include "bdl/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Observes rows of x and y in their order, option "block" of them at a time (default 1); a block is one
 * observation, which holds as many gradient vectors as it has rows and outputs. A posterior that is blank is
 * initialised first (bdl_optimizer_initialize()): by the methods for streams as the prior. Before each block
 * one step of time passes, as the options "transition", "process_noise" and "forgetting" say, unless
 * bdl_optimizer_forecast() has moved time on since the last observation.
 *
 * A missing target is NaN. Outputs that are independent given f are used without it; a row that lacks all its
 * targets (or, with a full noise covariance or "mc-hess", any) lets time pass and nothing else.
 *
 * With option "guard" (the default) the mean goes only as far as the observation's own posterior does not
 * become less likely by it; bdl_optimizer_guarded_steps() counts where that held it back.
 *
 * Option "score" says how the one-step-ahead log density of each row is computed before it is used. Momentum,
 * schedules, "curvature_rate", the learning of priors and the data size have no effect.
 *
 * With option "learn_noise" (the default) the noise of Gaussian and Student-t models is learned from one-step-ahead
 * residuals, unless you have set it. With "stream_scales" = "learned" a network that has no standardisation, and
 * whose posterior is blank, gets it from the first block, if that has 20 rows and its targets vary; else from
 * the first rows, which are kept until there are as many: each call then observes all of them anew. Since 0.1.
 * @param optimizer   an optimizer with a model, of any method
 * @param x           n x inputs
 * @param y           n x targets
 * @param log_density receives n x 1, in nats: log p(y_t | x_t, blocks before), NaN for rows that were not
 *                    used. May be bdl_none_out()
 * @return BDL_OK, BDL_STOPPED, BDL_ERROR_UNSUPPORTED (no model, or options that do not go together),
 *         BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_LABEL, BDL_ERROR_DIVERGED, BDL_ERROR_CALLBACK or
 *         BDL_ERROR_OUT_OF_MEMORY; all but BDL_OK leave the state after the last block that was used whole,
 *         and log_density unwritten
 */
BDL_API bdl_status bdl_optimizer_observe(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                         bdl_matrix_out log_density);

/**
 * Moves time on by a number of steps without observations: theta_t = gamma theta_(t-1) + N(0, Q), exactly,
 * and precision times "forgetting" each step. The next bdl_optimizer_observe() belongs to that time.
 * Predictions made in between are forecasts. A blank posterior is initialised first. An error changes
 * nothing. Since 0.1.
 * @param optimizer an optimizer
 * @param steps     >= 0; 0: the next observation is made at the time of the last
 */
BDL_API bdl_status bdl_optimizer_forecast(bdl_optimizer* optimizer, int64_t steps);

/**
 * Fixes the process noise Q = diag(variance) parameter by parameter; option "process_noise" no longer
 * matters. Since 0.1.
 * @param optimizer an optimizer
 * @param variance  1 x 1 or 1 x D, >= 0, per step of time; bdl_none(): option "process_noise" again
 */
BDL_API bdl_status bdl_optimizer_set_process_noise(bdl_optimizer* optimizer, bdl_matrix variance);

/**
 * Reads prequential (one-step-ahead) scores since the optimizer was initialised: means over all observations, each
 * row judged before it was used. Any out-pointer may be NULL. Since 0.1.
 * @param optimizer   an optimizer with a model
 * @param count       receives the number of rows scored
 * @param log_density receives the mean log density of a row, in nats; NaN if count is 0
 * @param error       receives the fraction of misclassified targets, or (Gaussian, Poisson) the root mean
 *                    squared error of the prediction at the mean of theta; NaN if count is 0
 */
BDL_API bdl_status bdl_optimizer_prequential(const bdl_optimizer* optimizer, int64_t* count,
                                             double* log_density, double* error);

/** Number of steps that were shortened to stay positive definite; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_optimizer_shortened_steps(const bdl_optimizer* optimizer);

/** Kinds of draws that a bdl_draws_fn makes. */
typedef enum bdl_draw_kind {
  BDL_DRAW_PARAMETERS = 1, /**< rows ~ q, the posterior samples of the mc- estimates */
  BDL_DRAW_PROBES = 2,     /**< rows of +-1, independent with mean 0 (Hutchinson probes) */
  BDL_DRAW_KIND_FORCE_INT32 = 0x7fffffff
} bdl_draw_kind;

/**
 * Callback: the random draws of training, in place of the library's own streams: antithetic or quasi-random
 * numbers, or those of another program.
 * @param user_data as given to bdl_optimizer_set_draws()
 * @param kind      kind of the draws
 * @param step      number of the step or observation, from 0
 * @param iteration inner iteration, from 0
 * @param q         the posterior to draw from; only valid during the call
 * @param draws     S x D, of the posterior's dtype, to be written
 * @return 0; any other value fails the call in progress with BDL_ERROR_CALLBACK
 */
typedef int32_t (*bdl_draws_fn)(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                                const bdl_posterior* q, bdl_matrix_out draws);

/**
 * Sets the source of random draws. It is not part of a checkpoint. Since 0.1.
 * @param optimizer an optimizer
 * @param draws     NULL: the library's own streams again (destroy is not called then)
 * @param user_data handed to the callback
 * @param destroy   called once with user_data when another source is set or the optimizer is freed; may be
 *                  NULL. If the call fails, it is not called
 */
BDL_API bdl_status bdl_optimizer_set_draws(bdl_optimizer* optimizer, bdl_draws_fn draws, void* user_data,
                                           void (*destroy)(void* user_data));

#ifdef __cplusplus
}
#endif

#endif
