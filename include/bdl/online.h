/**
 * @file online.h
 * Streams: an optimizer learns from one observation, or one block of observations, after the other, as a
 * Bayesian filter does. The posterior before an observation is the prior of that observation; time may pass
 * between two observations.
 *
 * Every rule, curvature estimate and family of posteriors can be combined (Jones, Chang, Murphy 2024,
 * "Bayesian Online Natural Gradient"), with three exceptions: a low-rank posterior does not work with
 * "mc-hess", "mc-reparam" is for diagonal posteriors, and rule "map" is for batches.
 *
 * Option "rule":
 *
 * - `bong`: one natural-gradient step on the expected log likelihood, of length 1: exact Bayes in conjugate
 *   models with a full posterior
 * - `blr`: `iterations` natural-gradient steps of length `learning_rate` on the expected log likelihood
 *   minus KL(q, prior)
 * - `bog`: one plain gradient step of length `learning_rate` on the expected log likelihood
 * - `bbb`: `iterations` plain gradient steps of length `learning_rate` on the expected log likelihood minus
 *   KL(q, prior)
 *
 * Option "curvature":
 *
 * - `mc-ef`, `mc-ggn`, `mc-hess`: at `samples` posterior samples; `mc-hess` (exact Hessians) needs a
 *   network
 * - `lin-hess`, `lin-ef`: linearised at the mean, without samples
 * - `exact-hess`: the expectations themselves, for networks of one layer and one output
 *
 * Posteriors: low rank (rank 0: diagonal), full, full moment and diagonal moment.
 *
 * Methods are names for combinations: "bong", "blr", "bog" and "online-bbb" (all with lin-hess), "rvga"
 * (bong, mc-hess, full), "cm-ekf" and "ekf" (bong, lin-hess, full), "vd-ekf" (bong, lin-hess, diagonal),
 * "lo-fi" (bong, lin-hess, low rank).
 *
 * Steps with exact Hessians, plain gradients and steps of moment families can make the covariance
 * indefinite. The library recognises such a step before it is taken, and shortens it: if it would leave
 * less than 1e-8 of the former precision (of the covariance, in moment families), it leaves half.
 * bdl_optimizer_shortened_steps() counts these steps. With option "indefinite" = "error" they return
 * BDL_ERROR_DIVERGED instead. With "improved", and by default with curvature "mc-reparam", natural steps of
 * precisions are taken to second order, which always stay positive definite (Lin, Schmidt, Khan 2020).
 */
#ifndef BDL_ONLINE_H
#define BDL_ONLINE_H

#include "bdl/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Observes rows of x and y in their order, option "block" of them at a time (default 1). A block is one
 * observation, which holds as many gradient vectors as it has rows and outputs. An uninitialised posterior
 * is initialised first (bdl_optimizer_initialize()); methods for streams initialise it as the prior. Before
 * each block one step of time passes, as the options "transition", "process_noise" and "forgetting" define,
 * unless bdl_optimizer_forecast() has moved time on since the last observation. Since 0.1.
 *
 * - A missing target is NaN. Outputs that are independent given f are used without it. A row without any
 *   target (or, with a full noise covariance or "mc-hess", without all targets) lets time pass and nothing
 *   else.
 * - Option "guard" (on by default) limits how far the mean moves, so that the observation's own posterior
 *   does not become less likely; bdl_optimizer_guarded_steps() counts the limited steps.
 * - Option "score" defines how the one-step-ahead log density of each row is computed before the row is
 *   used.
 * - Option "learn_noise" (on by default) learns the noise of Gaussian and Student-t models from
 *   one-step-ahead residuals, unless you have set the noise.
 * - With "stream_scales" = "learned", a network without standardisation and with an uninitialised posterior
 *   gets its standardisation from the first block, if the block has 20 rows and its targets vary. Else it
 *   comes from the first rows, which are kept until there are 20; each call then observes all of them anew.
 * - Momentum, schedules, "curvature_rate", the learning of priors and the data size have no effect.
 *
 * @param optimizer   an optimizer with a model, of any method
 * @param x           n x inputs
 * @param y           n x targets
 * @param log_density receives n x 1, in nats: log p(y_t | x_t, blocks before), and NaN for rows that were
 *                    not used. May be bdl_none_out()
 * @return BDL_OK, BDL_STOPPED, BDL_ERROR_UNSUPPORTED (no model, or an invalid combination of options),
 *         BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_LABEL, BDL_ERROR_DIVERGED, BDL_ERROR_CALLBACK or
 *         BDL_ERROR_OUT_OF_MEMORY. All but BDL_OK leave the state after the last whole block that was used,
 *         and do not write log_density
 */
BDL_API bdl_status bdl_optimizer_observe(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                         bdl_matrix_out log_density);

/**
 * Moves time on by a number of steps without observations: theta_t = gamma theta_(t-1) + N(0, Q), exactly,
 * and the precision is multiplied by "forgetting" in each step. The next bdl_optimizer_observe() belongs to
 * the new time. Predictions made in between are forecasts. An uninitialised posterior is initialised first.
 * An error changes nothing. Since 0.1.
 * @param optimizer an optimizer
 * @param steps     >= 0; 0: the next observation is made at the time of the last one
 */
BDL_API bdl_status bdl_optimizer_forecast(bdl_optimizer* optimizer, int64_t steps);

/**
 * Fixes the process noise Q = diag(variance) for each parameter, in place of option "process_noise". Since
 * 0.1.
 * @param optimizer an optimizer
 * @param variance  1 x 1 or 1 x D, >= 0, for a step of time; bdl_none(): option "process_noise" again
 */
BDL_API bdl_status bdl_optimizer_set_process_noise(bdl_optimizer* optimizer, bdl_matrix variance);

/**
 * Reads prequential (one-step-ahead) scores since the optimizer was initialised, as means over all
 * observations; each row is scored before it is used. Any out-pointer may be NULL. Since 0.1.
 * @param optimizer   an optimizer with a model
 * @param count       receives the number of rows scored
 * @param log_density receives the mean log density of a row, in nats; NaN if count is 0
 * @param error       receives the fraction of misclassified targets, or (Gaussian, Poisson) the root mean
 *                    squared error of the prediction at the mean of theta; NaN if count is 0
 */
BDL_API bdl_status bdl_optimizer_prequential(const bdl_optimizer* optimizer, int64_t* count,
                                             double* log_density, double* error);

/** Returns the number of steps that were shortened to stay positive definite; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_optimizer_shortened_steps(const bdl_optimizer* optimizer);

/** Kinds of random numbers that a bdl_draws_fn makes. */
typedef enum bdl_draw_kind {
  BDL_DRAW_PARAMETERS = 1, /**< rows ~ q: the posterior samples of the estimates mc-* */
  BDL_DRAW_PROBES = 2,     /**< rows of +-1, independent, with mean 0 (Hutchinson probes) */
  BDL_DRAW_KIND_FORCE_INT32 = 0x7fffffff
} bdl_draw_kind;

/**
 * Callback: makes the random numbers of training, in place of the library's own streams. They may be
 * antithetic or quasi-random numbers, or those of another program.
 * @param user_data as given to bdl_optimizer_set_draws()
 * @param kind      kind of the numbers
 * @param step      number of the step or observation, from 0
 * @param iteration inner iteration, from 0
 * @param q         the posterior to sample from; only valid during the call
 * @param draws     S x D, of the posterior's dtype, to be written
 * @return 0; any other value makes the call in progress fail with BDL_ERROR_CALLBACK
 */
typedef int32_t (*bdl_draws_fn)(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                                const bdl_posterior* q, bdl_matrix_out draws);

/**
 * Sets the source of random numbers. It is not part of a checkpoint. Since 0.1.
 * @param optimizer an optimizer
 * @param draws     NULL: the library's own streams again (destroy is not called then)
 * @param user_data passed to the callback
 * @param destroy   called once with user_data when another source is set or the optimizer is freed; may be
 *                  NULL. If the call fails, destroy is not called
 */
BDL_API bdl_status bdl_optimizer_set_draws(bdl_optimizer* optimizer, bdl_draws_fn draws, void* user_data,
                                           void (*destroy)(void* user_data));

#ifdef __cplusplus
}
#endif

#endif
