/**
 * @file predict.h
 * Predictive distributions. Every function takes the same first arguments:
 *
 *   model, posterior   of the same dtype and number of parameters
 *   x                  n x inputs
 *   method, samples    how p(y | x) = E_q[p(y | f(x; theta))] is computed:
 *                        BDL_MONTE_CARLO             average over `samples` >= 1 draws of q
 *                        BDL_PLUG_IN                 theta = mean of q; no epistemic uncertainty
 *                        BDL_QUADRATURE              exact to rounding, by one-dimensional integrals:
 *                                                    generalised linear models with one output
 *                        BDL_LINEARIZED_MONTE_CARLO  as BDL_MONTE_CARLO for the linearised model
 *                        BDL_LINEARIZED              closed forms for the linearised model
 *                        BDL_LOCAL_MONTE_CARLO       as BDL_MONTE_CARLO with local reparametrisation
 *                      Only the Monte-Carlo methods read `samples`.
 *   seed               of the draws: equal seeds give equal draws of parameters (or of the linearised model's
 *                      outputs), whatever x
 *
 * The linearised model is f(x; mu) + J (theta - mu) with the Jacobian J = df(x; mu) / dtheta at the mean mu
 * of q = N(mu, Sigma) (Immer et al. 2021, Improving predictions of Bayesian neural nets via local
 * linearization). Its outputs have the distribution q(f | x) = N(f(x; mu), J Sigma J^T), which a linear model has
 * without any approximation. Both methods need C backward passes per example, whatever the number of
 * samples; a user model needs its gradients callback.
 *
 *   BDL_LINEARIZED_MONTE_CARLO draws f_s = f(x; mu) + (J Sigma J^T)^1/2 z_s in C dimensions, by the symmetric
 *   root, where J Sigma J^T may be singular. The C normals z_s depend on seed and sample s only: every
 *   example has the right distribution, whatever other examples are in x, but draws of different examples are not
 *   values of one function.
 *
 *   BDL_LINEARIZED integrates over q(f | x):
 *     BDL_GAUSSIAN     exactly: y ~ N(f(x; mu), J Sigma J^T + R) with the noise covariance R, jointly over
 *                      the outputs
 *     BDL_BERNOULLI    by the probit approximation p = sigmoid(kappa m), kappa = 1 / sqrt(1 + pi v / 8), for
 *                      each output with q(f) = N(m, v), outputs taken as independent (MacKay 1992, The
 *                      evidence framework applied to classification networks)
 *     BDL_CATEGORICAL  by the same for several classes, p = softmax(kappa_c m_c) with v_c on the diagonal of
 *                      J Sigma J^T (Gibbs 1998, Bayesian Gaussian processes for regression and
 *                      classification; Daxberger et al. 2021, Laplace redux)
 *     BDL_POISSON      exactly for each output, outputs taken as independent given x
 *     BDL_HETEROSCEDASTIC  to near rounding for each target, by a one-dimensional integral over its log noise
 *                      precision, targets taken as independent given x
 *     BDL_STUDENT_T    to near rounding for each target, as a mixture of normal distributions
 *
 *   BDL_LOCAL_MONTE_CARLO is for low-rank-moment posteriors of networks: instead of drawing parameters, each
 *   layer adds noise to its outputs, of each example's own (Kingma et al. 2015; Tomczak et al. 2020). An
 *   example's outputs have the distribution of BDL_MONTE_CARLO in dense layers; in convolutions the noise of different
 *   positions is taken as independent, as the paper does. The noise depends on seed, sample and the place
 *   of the example in x. K + 1 or K + 2 products a draw: BDL_MONTE_CARLO, with one, is exact and faster.
 *
 * With BDL_HETEROSCEDASTIC, C below is the number of targets wherever it counts columns of y: means,
 * variances, quantiles, intervals. The outputs of bdl_predict_output_distribution() are all 2 T.
 *
 * Outputs of 1e8 log odds, or of 1e8 standard deviations of the targets, mean that training has diverged:
 *
 * Rows are independent: one that overflows spoils only its own numbers. BDL_OK means that no number
 * is NaN, and that all are finite unless they, or the outputs that they come from, overflow a double, the model's
 * type or the output's:
 *
 *   means, variances, quantiles, bounds, draws of y   infinite, of the right sign where there is one
 *   log densities                                     -infinity, also where a density underflows
 *   class probabilities                               equal for all classes, with no mutual information
 *   means and covariances of outputs                  infinite
 *
 * So the expected count of a linear model with BDL_POISSON is infinite if e^(m + v / 2) is, which far from
 * the data it may be; quantiles may be finite there. Once trained, networks with hidden units have rates below
 * 27 (1 + the largest count in the training data), and heteroscedastic models with standardised targets have noise
 * below 16.5 standard deviations of y (docs/theory/likelihoods.md, "Limits").
 *
 * The handles are only read: calls may run concurrently. Outputs may be bdl_none_out() if not wanted.
 *
 * A bdl_predictor, at the end of this file, gives identical results and is made for many calls with
 * few rows each: it draws once and keeps its memory.
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
  BDL_MONTE_CARLO = 1,            /**< average over posterior draws */
  BDL_PLUG_IN = 2,                /**< posterior mean only */
  BDL_QUADRATURE = 3,             /**< exact, one-output generalised linear models */
  BDL_LINEARIZED_MONTE_CARLO = 4, /**< average over draws of the linearised model's outputs */
  BDL_LINEARIZED = 5,             /**< closed forms for the linearised model */
  BDL_LOCAL_MONTE_CARLO = 6,      /**< average over draws with noise of each example's own */
  BDL_PREDICT_METHOD_FORCE_INT32 = 0x7fffffff
} bdl_predict_method;

/**
 * Computes the mean and the two kinds of variance of y, whose sum is Var[y | x]. A row that overflows is infinite.
 * For BDL_CATEGORICAL y means the one-hot vector. The probit approximation p of BDL_LINEARIZED implies
 * E_q[Var[y | x, theta]] = kappa p (1 - p): the derivative of E_q[p] by the mean of f. Since 0.1.
 * @param mean               receives n x C: E[y | x]
 * @param epistemic_variance receives n x C: Var_q[E[y | x, theta]], from not knowing theta; 0 of a posterior without a
 *                           covariance (bdl_posterior_has_covariance())
 * @param noise_variance     receives n x C: E_q[Var[y | x, theta]], from the likelihood. BDL_STUDENT_T with
 *                           2 degrees of freedom or fewer has none: BDL_ERROR_UNSUPPORTED
 */
BDL_API bdl_status bdl_predict(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                               bdl_predict_method method, int64_t samples, uint64_t seed, bdl_matrix_out mean,
                               bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance);

/**
 * Computes quantiles of y, noise included; infinite if a row overflows. BDL_GAUSSIAN, BDL_HETEROSCEDASTIC,
 * BDL_STUDENT_T: exact for the predictive mixture, to 1e-10 of its scale; BDL_POISSON: the smallest count with
 * at least that probability. Others: BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param levels    1 x K probabilities in (0, 1)
 * @param quantiles receives n x (C K): column c K + k is output c at level k
 */
BDL_API bdl_status bdl_predict_quantiles(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                         bdl_predict_method method, int64_t samples, uint64_t seed,
                                         bdl_matrix levels, bdl_matrix_out quantiles);

/**
 * Computes the central interval that holds y with the given probability: quantiles (1 -+ probability) / 2. Since
 * 0.1.
 * @param probability in (0, 1)
 * @param lower       receives n x C
 * @param upper       receives n x C
 */
BDL_API bdl_status bdl_predict_interval(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        double probability, bdl_matrix_out lower, bdl_matrix_out upper);

/**
 * Computes class probabilities and their uncertainty, in nats. For BDL_BERNOULLI and BDL_CATEGORICAL; others:
 * BDL_ERROR_UNSUPPORTED. With BDL_LINEARIZED, probabilities and their entropy are those of the probit
 * approximation; the mutual information of BDL_BERNOULLI is integrated over q(f | x) exactly, and that of
 * BDL_CATEGORICAL is BDL_ERROR_UNSUPPORTED if wanted. Since 0.1.
 * @param probabilities      receives n x C: P(class) (BDL_CATEGORICAL) or P(y = 1) (BDL_BERNOULLI)
 * @param entropy            receives the predictive entropy: n x 1 (categorical) or n x C (Bernoulli)
 * @param mutual_information receives the part of the entropy due to not knowing theta (Houlsby et al.
 *                           2011), shape as entropy
 */
BDL_API bdl_status bdl_predict_classes(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                       bdl_predict_method method, int64_t samples, uint64_t seed,
                                       bdl_matrix_out probabilities, bdl_matrix_out entropy,
                                       bdl_matrix_out mutual_information);

/**
 * Computes log E_q[p(y_i | x_i, theta)] of each example (jointly over its outputs), in nats; -infinity if the
 * density underflows or the row overflows. Since 0.1.
 * @param y           n x targets
 * @param log_density receives n x 1
 */
BDL_API bdl_status bdl_predict_log_density(const bdl_model* model, const bdl_posterior* posterior,
                                           bdl_matrix x, bdl_matrix y, bdl_predict_method method,
                                           int64_t samples, uint64_t seed, bdl_matrix_out log_density);

/**
 * Draws y by BDL_MONTE_CARLO: for each example, draw k comes from parameter draw k. For BDL_CATEGORICAL
 * the draws are class numbers. Since 0.1.
 * @param samples number of draws S
 * @param draws   receives n x (targets S): column t S + k is target t of draw k
 */
BDL_API bdl_status bdl_predict_draws(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                     int64_t samples, uint64_t seed, bdl_matrix_out draws);

/**
 * As bdl_predict_draws(), by a method: BDL_MONTE_CARLO; BDL_LINEARIZED_MONTE_CARLO, where draw k comes
 * from output draw k; or BDL_LINEARIZED: the same draws for BDL_GAUSSIAN, BDL_HETEROSCEDASTIC,
 * BDL_STUDENT_T and BDL_POISSON, and draws with the probit approximation's probabilities for BDL_BERNOULLI
 * and BDL_CATEGORICAL. Others: BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param samples number of draws S
 * @param draws   receives n x (targets S): column t S + k is target t of draw k
 */
BDL_API bdl_status bdl_predict_draws_by(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        bdl_matrix_out draws);

/**
 * Computes the distribution q(f | x) = N(f(x; mu), J Sigma J^T) of the linearised model's outputs f, before the
 * likelihood (and its noise), as filters need it. For any likelihood. The outputs of a posterior without a covariance
 * (bdl_posterior_has_covariance()) have none either: BDL_ERROR_UNSUPPORTED, unless only their mean is asked for. Since 0.1.
 * @param mean       receives n x C: f(x; mu)
 * @param covariance receives n x (C C): row i holds J Sigma J^T of example i, C x C, row by row
 */
BDL_API bdl_status bdl_predict_output_distribution(const bdl_model* model, const bdl_posterior* posterior,
                                                   bdl_matrix x, bdl_matrix_out mean,
                                                   bdl_matrix_out covariance);

/**
 * Computes a leverage of each row: how unlike the rows of the training data it is, to the posterior. It is the mean
 * of the diagonal of J Sigma J^T over the means of y (of classes: over the logits), standardised targets, by the
 * posterior that BDL_LINEARIZED takes. Divided by its mean over the training rows it is a score that is 1 on
 * average over these and larger where the data say little. Posteriors after methods that find a point, as "map",
 * have the covariance that they began with, and their leverages say nothing. Since 0.2.
 * @param leverage receives n x 1
 * @param left_out receives n x 1: of rows of the training data, what the leverage would be without the row, each
 *                 output by itself: s / (1 - w s) with the expected curvature w of its loss. New rows of the same
 *                 kind have such leverages, so their quantiles are limits for new rows
 */
BDL_API bdl_status bdl_predict_leverage(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_matrix_out leverage, bdl_matrix_out left_out);

/**
 * Predicts with one model and posterior by one method, any number of times. It is a snapshot:
 * bdl_predictor_create() copies model and posterior, which may be changed or freed afterwards without
 * changing its predictions. After more training, create another one. (For a user model the
 * handle is copied: the predictor calls the same callbacks, and `destroy` runs when it is gone as well.)
 *
 * It draws once, at its creation, what does not depend on x, and owns the memory that predictions need: a
 * call with no more rows than an earlier call of the same function allocates nothing. (Exceptions: integrals
 * over logits of x so far off, some 1e6 standard deviations, that they need unusually many nodes; and what
 * the callbacks of your own models do.) By BDL_MONTE_CARLO it holds S D numbers of the model's dtype for S
 * samples of D parameters, beside the copies and memory that grows with the rows of a call: 600 kB for a
 * 13-50-1 network in double precision and 100 samples.
 *
 * Every function does what the bdl_predict function of its name does, with identical results for equal
 * arguments. One thread at a time may use a predictor, even for predictions, as it computes in its own memory.
 * Give each thread a predictor. A call that fails changes nothing. Since 0.2.
 */
typedef struct bdl_predictor bdl_predictor;

/**
 * Creates a predictor; arguments are as for bdl_predict(). Fails with BDL_ERROR_OUT_OF_MEMORY if the draws need
 * more than there is. Since 0.2.
 * @param predictor receives the predictor, to be freed with bdl_predictor_free()
 */
BDL_API bdl_status bdl_predictor_create(const bdl_model* model, const bdl_posterior* posterior,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        bdl_predictor** predictor);

/**
 * Creates a predictor of a deep ensemble: J members that were trained independently, by any methods
 * (Lakshminarayanan et al. 2017). It predicts the equal mixture p(y | x) = sum_j p_j(y | x) / J. Member j is
 * the predictor of bdl_predictor_create(models[j], posteriors[j], method, samples, seed + j): each has its own
 * standardisation, noise and running statistics, and `samples` draws, of seed + j. One member gives results
 * identical to those of bdl_predictor_create(). What the functions below give for the mixture:
 *
 *   moments          the epistemic variance is the members' mean one plus the variance of their means
 *   quantiles, intervals, log densities, class probabilities, entropies   those of the mixture
 *   mutual information   of y and both member and parameters
 *   draws            `samples` of each member: n x (targets S J), column t S J + j S + k is draw k of member j
 *   output distribution  mean and covariance of the mixture of the members' normal distributions, in the
 *                    caller's units; it is not normal itself
 *   leverages        the means of the members' leverages
 *
 * It holds what its members hold, and memory that grows with the rows of a call. Since 0.2.
 * @param models     `count` models of one dtype with equal numbers of inputs and outputs, and one kind of
 *                   likelihood; else BDL_ERROR_SHAPE. Errors name the member
 * @param posteriors as many, one for each model
 * @param count      J >= 1
 * @param predictor  receives the predictor, to be freed with bdl_predictor_free()
 */
BDL_API bdl_status bdl_predictor_create_ensemble(const bdl_model* const* models,
                                                 const bdl_posterior* const* posteriors, int64_t count,
                                                 bdl_predict_method method, int64_t samples, uint64_t seed,
                                                 bdl_predictor** predictor);

/** Frees a predictor; NULL is allowed. Since 0.2. */
BDL_API void bdl_predictor_free(bdl_predictor* predictor);

/** As bdl_predict(). Since 0.2. */
BDL_API bdl_status bdl_predictor_moments(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                         bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance);

/** As bdl_predict_quantiles(). Since 0.2. */
BDL_API bdl_status bdl_predictor_quantiles(bdl_predictor* predictor, bdl_matrix x, bdl_matrix levels,
                                           bdl_matrix_out quantiles);

/** As bdl_predict_interval(). Since 0.2. */
BDL_API bdl_status bdl_predictor_interval(bdl_predictor* predictor, bdl_matrix x, double probability,
                                          bdl_matrix_out lower, bdl_matrix_out upper);

/** As bdl_predict_classes(). Since 0.2. */
BDL_API bdl_status bdl_predictor_classes(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out probabilities,
                                         bdl_matrix_out entropy, bdl_matrix_out mutual_information);

/** As bdl_predict_log_density(). Since 0.2. */
BDL_API bdl_status bdl_predictor_log_density(bdl_predictor* predictor, bdl_matrix x, bdl_matrix y,
                                             bdl_matrix_out log_density);

/** As bdl_predict_draws_by(), with the predictor's method; as many draws as it has samples. Since 0.2. */
BDL_API bdl_status bdl_predictor_draws(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out draws);

/** As bdl_predict_output_distribution(), whatever the predictor's method. Since 0.2. */
BDL_API bdl_status bdl_predictor_output_distribution(bdl_predictor* predictor, bdl_matrix x,
                                                     bdl_matrix_out mean, bdl_matrix_out covariance);

/** As bdl_predict_leverage(), whatever the predictor's method. Since 0.2. */
BDL_API bdl_status bdl_predictor_leverage(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out leverage,
                                          bdl_matrix_out left_out);

#ifdef __cplusplus
}
#endif

#endif
