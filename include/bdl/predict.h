/**
 * @file predict.h
 * Predictive distributions.
 *
 * ## Arguments that all functions share
 *
 * - `model` and `posterior` have the same dtype and number of parameters.
 * - `x` is n x inputs.
 * - `method` is the way in which p(y | x) = E_q[p(y | f(x; theta))] is computed (bdl_predict_method,
 *   below).
 * - `samples` is the number of samples, >= 1. Only the Monte-Carlo methods read it.
 * - `seed` is the seed of the samples: equal seeds give equal samples of parameters (or of the outputs of
 *   the linearised model), whatever x is.
 *
 * The handles are only read, so calls may run concurrently. Outputs that are not wanted may be
 * bdl_none_out(). With BDL_HETEROSCEDASTIC, C below is the number of targets wherever it counts columns of
 * y: means, variances, quantiles, intervals. The outputs of bdl_predict_output_distribution() are all 2 T.
 * With BDL_ORDINAL, means, variances and probabilities have a column for each of the K levels.
 *
 * ## Methods
 *
 * - `BDL_MONTE_CARLO`: average over samples of q
 * - `BDL_PLUG_IN`: theta is the mean of q: no epistemic uncertainty
 * - `BDL_QUADRATURE`: exact to rounding, by one-dimensional integrals, for generalised linear models with
 *   one output
 * - `BDL_LINEARIZED_MONTE_CARLO`: average over samples of the outputs of the linearised model
 * - `BDL_LINEARIZED`: closed forms for the linearised model
 * - `BDL_LOCAL_MONTE_CARLO`: average over samples with separate noise for each example (local
 *   reparametrisation)
 *
 * The linearised model is f(x; mu) + J (theta - mu) with the Jacobian J = df(x; mu) / dtheta at the mean mu
 * of q = N(mu, Sigma) (Immer et al. 2021, Improving predictions of Bayesian neural nets via local
 * linearization). Its outputs have the distribution q(f | x) = N(f(x; mu), J Sigma J^T), which is exact for
 * a linear model. Both linearised methods need C backward passes for each example, whatever the number of
 * samples; a custom model needs its gradients callback.
 *
 * `BDL_LINEARIZED_MONTE_CARLO` draws f_s = f(x; mu) + (J Sigma J^T)^1/2 z_s in C dimensions, by the
 * symmetric root; J Sigma J^T may be singular. The C normal numbers z_s depend on seed and sample s only.
 * So every example has the right distribution, whatever other examples are in x, but the samples of
 * different examples are not values of one function.
 *
 * `BDL_LINEARIZED` integrates over q(f | x):
 *
 * - BDL_GAUSSIAN: exactly, y ~ N(f(x; mu), J Sigma J^T + R) with the noise covariance R, jointly over the
 *   outputs.
 * - BDL_BERNOULLI: by the probit approximation p = sigmoid(kappa m), kappa = 1 / sqrt(1 + pi v / 8), for
 *   each output with q(f) = N(m, v), with the outputs taken as independent (MacKay 1992, The evidence
 *   framework applied to classification networks).
 * - BDL_CATEGORICAL: by the probit approximation for several classes, p = softmax(kappa_c m_c) with v_c on
 *   the diagonal of J Sigma J^T (Gibbs 1998, Bayesian Gaussian processes for regression and classification;
 *   Daxberger et al. 2021, Laplace redux).
 * - BDL_POISSON: exactly for each output, with the outputs taken as independent given x.
 * - BDL_HETEROSCEDASTIC: close to rounding for each target, by a one-dimensional integral over its log
 *   noise precision, with the targets taken as independent given x.
 * - BDL_STUDENT_T: close to rounding for each target, as a mixture of normal distributions.
 * - BDL_PROBIT, BDL_CLOGLOG, BDL_NEGATIVE_BINOMIAL, BDL_GAMMA, BDL_ORDINAL: to about 1e-11 for each output, by
 *   the trapezoidal rule, with the outputs taken as independent given x.
 *
 * `BDL_LOCAL_MONTE_CARLO` is for low-rank-moment posteriors of networks. Instead of sampling parameters,
 * each layer adds noise to its outputs, separately for each example (Kingma et al. 2015; Tomczak et al.
 * 2020). In dense layers the outputs of an example have the distribution of BDL_MONTE_CARLO; in
 * convolutions the noise of different positions is taken as independent, as in the paper. The noise depends
 * on seed, sample and the place of the example in x. A sample takes K + 1 or K + 2 products;
 * BDL_MONTE_CARLO takes one, so it is exact and faster.
 *
 * ## Results that overflow
 *
 * If the outputs of a network exceed 1e8 (1 + the largest |x|) in log odds or in standard deviations of the
 * standardised targets, training has diverged, and predictions return BDL_ERROR_DIVERGED. (Without
 * standardised targets the limit is 1e12 standard deviations of the noise.)
 *
 * Rows are independent: a row that overflows spoils only its own numbers. BDL_OK means that no number is
 * NaN, and that all are finite unless they, or the outputs that they come from, overflow a double, the
 * model's type or the output's type. Then
 *
 * - means, variances, quantiles, bounds and samples of y are infinite, of the right sign where there is
 *   one;
 * - log densities are -infinity, also where a density underflows;
 * - class probabilities are equal for all classes, with no mutual information;
 * - means and covariances of outputs are infinite.
 *
 * For example, the expected count of a linear model with BDL_POISSON is infinite if e^(m + v / 2) is, which
 * may happen far from the data; quantiles may be finite there. Trained networks with hidden units have
 * rates below 27 (1 + the largest count in the training data), and heteroscedastic models with standardised
 * targets have noise below 16.5 standard deviations of y (docs/theory/likelihoods.md, "Limits").
 *
 * A bdl_predictor gives identical results and is made for many calls with few rows each: it samples once
 * and keeps its memory.
 *
 * ## Quantities: new data, means, links
 *
 * Most functions predict y, noise included. Those that take a bdl_quantity also tell how well the posterior
 * knows the mean of y or the linear predictor. Intervals of these are credible intervals: they shrink to 0
 * as data accumulate, and say nothing about the noise of one y.
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

/** Ways to compute expectations over the posterior. */
typedef enum bdl_predict_method {
  BDL_MONTE_CARLO = 1,            /**< average over posterior samples */
  BDL_PLUG_IN = 2,                /**< posterior mean only */
  BDL_QUADRATURE = 3,             /**< exact, one-output generalised linear models */
  BDL_LINEARIZED_MONTE_CARLO = 4, /**< average over samples of the linearised model's outputs */
  BDL_LINEARIZED = 5,             /**< closed forms for the linearised model */
  BDL_LOCAL_MONTE_CARLO = 6,      /**< average over samples with separate noise for each example */
  BDL_PREDICT_METHOD_FORCE_INT32 = 0x7fffffff
} bdl_predict_method;

/** Quantities of a row that quantiles and draws are asked for. Since 0.4. */
typedef enum bdl_quantity {
  BDL_QUANTITY_Y = 1,    /**< y, a new observation, noise included (predictive) */
  BDL_QUANTITY_MEAN = 2, /**< E[y | x, theta]; of classes their probabilities (credible) */
  BDL_QUANTITY_LINK = 3, /**< the linear predictor: the mean of y, log odds, the log rate, or the logits
                              of classes (credible) */
  BDL_QUANTITY_FORCE_INT32 = 0x7fffffff
} bdl_quantity;

/**
 * Computes the mean of y and the two kinds of variance, whose sum is Var[y | x]. A row that overflows is
 * infinite. For BDL_CATEGORICAL and BDL_ORDINAL y means the one-hot vector. The probit approximation p of BDL_LINEARIZED
 * implies E_q[Var[y | x, theta]] = kappa p (1 - p): the derivative of E_q[p] by the mean of f. Since 0.1.
 * @param model              see above
 * @param posterior          see above
 * @param x                  n x inputs
 * @param method             see above
 * @param samples            see above
 * @param seed               see above
 * @param mean               receives n x C: E[y | x]
 * @param epistemic_variance receives n x C: Var_q[E[y | x, theta]], because theta is uncertain; 0 for a
 *                           posterior without a covariance (bdl_posterior_has_covariance())
 * @param noise_variance     receives n x C: E_q[Var[y | x, theta]], from the likelihood. BDL_STUDENT_T with
 *                           2 degrees of freedom or fewer has no variance: BDL_ERROR_UNSUPPORTED
 */
BDL_API bdl_status bdl_predict(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                               bdl_predict_method method, int64_t samples, uint64_t seed, bdl_matrix_out mean,
                               bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance);

/**
 * Computes quantiles of y, noise included; infinite if a row overflows. For BDL_GAUSSIAN,
 * BDL_HETEROSCEDASTIC and BDL_STUDENT_T they are those of the predictive mixture, to 1e-10 of its scale.
 * For BDL_POISSON and BDL_NEGATIVE_BINOMIAL a quantile is the smallest count with at least that probability.
 * Likelihoods of classes return BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param model     as for bdl_predict()
 * @param posterior as for bdl_predict()
 * @param x         n x inputs
 * @param method    as for bdl_predict()
 * @param samples   as for bdl_predict()
 * @param seed      as for bdl_predict()
 * @param levels    1 x K probabilities in (0, 1)
 * @param quantiles receives n x (C K): column c K + k is output c at level k
 */
BDL_API bdl_status bdl_predict_quantiles(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                         bdl_predict_method method, int64_t samples, uint64_t seed,
                                         bdl_matrix levels, bdl_matrix_out quantiles);

/**
 * Computes the central interval that holds y with the given probability: quantiles (1 -+ probability) / 2.
 * Since 0.1.
 * @param model       as for bdl_predict()
 * @param posterior   as for bdl_predict()
 * @param x           n x inputs
 * @param method      as for bdl_predict()
 * @param samples     as for bdl_predict()
 * @param seed        as for bdl_predict()
 * @param probability in (0, 1)
 * @param lower       receives n x C
 * @param upper       receives n x C
 */
BDL_API bdl_status bdl_predict_interval(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        double probability, bdl_matrix_out lower, bdl_matrix_out upper);

/**
 * Computes class probabilities and their uncertainty, in nats. Likelihoods of numbers and counts return
 * BDL_ERROR_UNSUPPORTED. With BDL_LINEARIZED, probabilities of BDL_BERNOULLI and BDL_CATEGORICAL and their
 * entropy are those of the probit approximation. The mutual information of BDL_BERNOULLI is then integrated over q(f |
 * x) exactly, and that of BDL_CATEGORICAL returns BDL_ERROR_UNSUPPORTED if wanted. Since 0.1.
 * @param model              as for bdl_predict()
 * @param posterior          as for bdl_predict()
 * @param x                  n x inputs
 * @param method             as for bdl_predict()
 * @param samples            as for bdl_predict()
 * @param seed               as for bdl_predict()
 * @param probabilities      receives n x C: P(class) (BDL_CATEGORICAL), or P(y = 1) for labels 0 and 1; n x K:
 *                           P(level) (BDL_ORDINAL)
 * @param entropy            receives the predictive entropy: n x 1 (categorical, ordinal) or n x C
 * @param mutual_information receives the part of the entropy that comes from the uncertainty of theta
 *                           (Houlsby et al. 2011), in the shape of entropy
 */
BDL_API bdl_status bdl_predict_classes(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                       bdl_predict_method method, int64_t samples, uint64_t seed,
                                       bdl_matrix_out probabilities, bdl_matrix_out entropy,
                                       bdl_matrix_out mutual_information);

/**
 * Computes log E_q[p(y_i | x_i, theta)] of each example (jointly over its outputs), in nats; -infinity if
 * the density underflows or the row overflows. Since 0.1.
 * @param model       as for bdl_predict()
 * @param posterior   as for bdl_predict()
 * @param x           n x inputs
 * @param y           n x targets
 * @param method      as for bdl_predict()
 * @param samples     as for bdl_predict()
 * @param seed        as for bdl_predict()
 * @param log_density receives n x 1
 */
BDL_API bdl_status bdl_predict_log_density(const bdl_model* model, const bdl_posterior* posterior,
                                           bdl_matrix x, bdl_matrix y, bdl_predict_method method,
                                           int64_t samples, uint64_t seed, bdl_matrix_out log_density);

/**
 * Draws samples of y by BDL_MONTE_CARLO: for each example, sample k of y comes from sample k of the
 * parameters. For BDL_CATEGORICAL and BDL_ORDINAL the samples are class numbers. Since 0.1.
 * @param model     as for bdl_predict()
 * @param posterior as for bdl_predict()
 * @param x         n x inputs
 * @param samples   number of samples S
 * @param seed      as for bdl_predict()
 * @param draws     receives n x (targets S): column t S + k is target t of sample k
 */
BDL_API bdl_status bdl_predict_draws(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                     int64_t samples, uint64_t seed, bdl_matrix_out draws);

/**
 * Draws samples of y as bdl_predict_draws() does, by a method. BDL_LINEARIZED_MONTE_CARLO takes sample k of
 * y from sample k of the outputs. BDL_LINEARIZED gives the same samples, except that those of BDL_BERNOULLI
 * and BDL_CATEGORICAL have the probabilities of the probit approximation. Methods other than these two and BDL_MONTE_CARLO
 * return BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param model     as for bdl_predict()
 * @param posterior as for bdl_predict()
 * @param x         n x inputs
 * @param method    as for bdl_predict()
 * @param samples   number of samples S
 * @param seed      as for bdl_predict()
 * @param draws     receives n x (targets S): column t S + k is target t of sample k
 */
BDL_API bdl_status bdl_predict_draws_by(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        bdl_matrix_out draws);

/**
 * Computes quantiles of y, of its mean, or of the linear predictor. Those of y are
 * bdl_predict_quantiles()'s. Quantiles of the linear predictor are exact for BDL_QUADRATURE and
 * BDL_LINEARIZED, by which it is Gaussian, and so are those of the mean, an increasing function of it; for
 * the probabilities of BDL_CATEGORICAL both methods take `samples` samples of BDL_LINEARIZED_MONTE_CARLO.
 * For methods that average over samples, quantiles are those of the samples, interpolated linearly (type 7
 * of Hyndman and Fan 1996). BDL_PLUG_IN has one value. Central intervals with probability p are the
 * quantiles at (1 -+ p) / 2. The mean and the linear predictor of a posterior without a covariance
 * (bdl_posterior_has_covariance()) have no quantiles: BDL_ERROR_UNSUPPORTED. Since 0.4.
 * @param model     as for bdl_predict()
 * @param posterior as for bdl_predict()
 * @param x         n x inputs
 * @param method    as for bdl_predict()
 * @param samples   as for bdl_predict()
 * @param seed      as for bdl_predict()
 * @param quantity  what the quantiles are of
 * @param levels    1 x K probabilities in (0, 1)
 * @param quantiles receives n x (C K), in the caller's units: column c K + k is output c at level k
 */
BDL_API bdl_status bdl_predict_quantiles_of(const bdl_model* model, const bdl_posterior* posterior,
                                            bdl_matrix x, bdl_predict_method method, int64_t samples,
                                            uint64_t seed, bdl_quantity quantity, bdl_matrix levels,
                                            bdl_matrix_out quantiles);

/**
 * Draws samples of y, of its mean, or of the linear predictor. Those of y are bdl_predict_draws_by()'s.
 * Sample k of every quantity comes from sample k of the parameters (of the outputs, if linearised), so draws
 * of equal method, samples and seed belong together. For the mean and the linear predictor BDL_LINEARIZED
 * and BDL_QUADRATURE are BDL_LINEARIZED_MONTE_CARLO, and BDL_PLUG_IN gives equal samples. Since 0.4.
 * @param model     as for bdl_predict()
 * @param posterior as for bdl_predict()
 * @param x         n x inputs
 * @param method    as for bdl_predict()
 * @param samples   number of samples S
 * @param seed      as for bdl_predict()
 * @param quantity  what is drawn
 * @param draws     receives n x (C S), in the caller's units: column c S + k is output c of sample k. For y,
 *                  n x (targets S)
 */
BDL_API bdl_status bdl_predict_draws_of(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        bdl_quantity quantity, bdl_matrix_out draws);

/**
 * Computes log p(y_i | x_i, theta_s) of each example (jointly over its targets) and sample, in nats, with
 * all constants and in the caller's units: the input of bdl_metric_waic() and bdl_metric_loo(). Methods are
 * those of bdl_predict_draws_by(); BDL_LINEARIZED is BDL_LINEARIZED_MONTE_CARLO. -infinity if a density
 * underflows or the row overflows. Since 0.4.
 * @param model          as for bdl_predict()
 * @param posterior      as for bdl_predict()
 * @param x              n x inputs
 * @param y              n x targets
 * @param method         as for bdl_predict()
 * @param samples        number of samples S
 * @param seed           as for bdl_predict()
 * @param log_likelihood receives S x n: row s belongs to sample s, column i to example i
 */
BDL_API bdl_status bdl_predict_log_likelihood(const bdl_model* model, const bdl_posterior* posterior,
                                              bdl_matrix x, bdl_matrix y, bdl_predict_method method,
                                              int64_t samples, uint64_t seed, bdl_matrix_out log_likelihood);

/**
 * Computes the distribution q(f | x) = N(f(x; mu), J Sigma J^T) of the outputs f of the linearised model,
 * before the likelihood and its noise, as filters need it, for any likelihood. If the posterior has no
 * covariance (bdl_posterior_has_covariance()), a wanted covariance is BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param model      as for bdl_predict()
 * @param posterior  as for bdl_predict()
 * @param x          n x inputs
 * @param mean       receives n x C: f(x; mu)
 * @param covariance receives n x (C C): row i holds J Sigma J^T of example i, C x C, row by row
 */
BDL_API bdl_status bdl_predict_output_distribution(const bdl_model* model, const bdl_posterior* posterior,
                                                   bdl_matrix x, bdl_matrix_out mean,
                                                   bdl_matrix_out covariance);

/**
 * Computes the leverage of each row: how different the row is, to the posterior, from the rows of the
 * training data. It is the mean of the diagonal of J Sigma J^T over the means of y (over the logits of
 * classes), for standardised targets, by the posterior that BDL_LINEARIZED takes. Divided by its mean over
 * the training rows it is a score that is 1 on average over these rows, and larger where there are few
 * data. After methods that find a point, such as "map", the posterior has the covariance that it began
 * with, and leverages mean nothing. Since 0.3.
 * @param model     as for bdl_predict()
 * @param posterior as for bdl_predict()
 * @param x         n x inputs
 * @param leverage  receives n x 1
 * @param left_out  receives n x 1: for rows of the training data, the leverage that the row would have if
 *                  it were left out, for each output alone: s / (1 - w s) with the expected curvature w of
 *                  its loss. New rows of the same kind have such leverages, so their quantiles are limits
 *                  for new rows
 */
BDL_API bdl_status bdl_predict_leverage(const bdl_model* model, const bdl_posterior* posterior, bdl_matrix x,
                                        bdl_matrix_out leverage, bdl_matrix_out left_out);

/**
 * Predicts with one model and posterior by one method, any number of times. A predictor is a snapshot:
 * bdl_predictor_create() copies model and posterior, which you may change or free afterwards without an
 * effect on its predictions. After more training, create another predictor. (For a custom model the handle is
 * copied: the predictor calls the same callbacks, and `destroy` runs when the predictor is freed as well.)
 *
 * A predictor samples once, at its creation, whatever does not depend on x, and owns the memory that
 * predictions need. A call with no more rows than an earlier call of the same function allocates nothing,
 * with two exceptions: integrals over logits of x so far away (some 1e6 standard deviations) that they need
 * unusually many nodes, and the callbacks of custom models. By BDL_MONTE_CARLO it holds S D numbers of the
 * model's dtype for S samples of D parameters, in addition to the copies and memory that grows with the
 * rows of a call: 600 kB for a 13-50-1 network in double precision and 100 samples.
 *
 * Every function gives results identical to those of the bdl_predict function of its name. One thread at a
 * time may use a predictor, even for predictions, because it computes in its own memory. Give each thread a
 * predictor. A call that fails changes nothing. Since 0.2.
 */
typedef struct bdl_predictor bdl_predictor;

/**
 * Creates a predictor; its arguments are those of bdl_predict(). Returns BDL_ERROR_OUT_OF_MEMORY if there
 * is no memory for the samples. Since 0.2.
 * @param model     a model
 * @param posterior a posterior
 * @param method    as for bdl_predict()
 * @param samples   as for bdl_predict()
 * @param seed      as for bdl_predict()
 * @param predictor receives the predictor; free it with bdl_predictor_free()
 */
BDL_API bdl_status bdl_predictor_create(const bdl_model* model, const bdl_posterior* posterior,
                                        bdl_predict_method method, int64_t samples, uint64_t seed,
                                        bdl_predictor** predictor);

/**
 * Creates a predictor of a deep ensemble: J members that were trained independently, by any methods
 * (Lakshminarayanan et al. 2017). It predicts the equal mixture p(y | x) = sum_j p_j(y | x) / J. Member j
 * is the predictor of bdl_predictor_create(models[j], posteriors[j], method, samples, seed + j). Each
 * member has its own standardisation, noise and running statistics, and `samples` samples, of seed + j. One
 * member gives results identical to those of bdl_predictor_create(). The predictor holds what its members
 * hold, and memory that grows with the rows of a call. Since 0.2.
 *
 * The functions below give these results for the mixture:
 *
 * - moments: the epistemic variance is the mean of the members' epistemic variances plus the variance of
 *   their means;
 * - quantiles, intervals, log densities, class probabilities and entropies: those of the mixture;
 * - mutual information: that of y with the member and its parameters together;
 * - draws: `samples` of each member, n x (targets S J); column t S J + j S + k is sample k of member j;
 * - log likelihoods: those of each member's samples, (S J) x n; row j S + k is sample k of member j;
 * - quantiles of the mean and of the linear predictor: those of all members' draws;
 * - output distribution: mean and covariance of the mixture of the members' normal distributions, in the
 *   caller's units; the mixture is not normal;
 * - leverages: the means of the members' leverages.
 *
 * @param models     `count` models of one dtype with equal numbers of inputs and outputs, and one kind of
 *                   likelihood; else BDL_ERROR_SHAPE. Errors name the member
 * @param posteriors as many posteriors, one for each model
 * @param count      J >= 1
 * @param method     as for bdl_predict()
 * @param samples    samples of each member
 * @param seed       seed of the first member
 * @param predictor  receives the predictor; free it with bdl_predictor_free()
 */
BDL_API bdl_status bdl_predictor_create_ensemble(const bdl_model* const* models,
                                                 const bdl_posterior* const* posteriors, int64_t count,
                                                 bdl_predict_method method, int64_t samples, uint64_t seed,
                                                 bdl_predictor** predictor);

/** Frees a predictor. NULL is allowed. Since 0.2. */
BDL_API void bdl_predictor_free(bdl_predictor* predictor);

/** Computes mean and variances as bdl_predict() does. Since 0.2. */
BDL_API bdl_status bdl_predictor_moments(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out mean,
                                         bdl_matrix_out epistemic_variance, bdl_matrix_out noise_variance);

/** Computes quantiles as bdl_predict_quantiles() does. Since 0.2. */
BDL_API bdl_status bdl_predictor_quantiles(bdl_predictor* predictor, bdl_matrix x, bdl_matrix levels,
                                           bdl_matrix_out quantiles);

/** Computes an interval as bdl_predict_interval() does. Since 0.2. */
BDL_API bdl_status bdl_predictor_interval(bdl_predictor* predictor, bdl_matrix x, double probability,
                                          bdl_matrix_out lower, bdl_matrix_out upper);

/** Computes class probabilities as bdl_predict_classes() does. Since 0.2. */
BDL_API bdl_status bdl_predictor_classes(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out probabilities,
                                         bdl_matrix_out entropy, bdl_matrix_out mutual_information);

/** Computes log densities as bdl_predict_log_density() does. Since 0.2. */
BDL_API bdl_status bdl_predictor_log_density(bdl_predictor* predictor, bdl_matrix x, bdl_matrix y,
                                             bdl_matrix_out log_density);

/**
 * Draws as many samples of y as the predictor has samples, as bdl_predict_draws_by() does by the
 * predictor's method. Since 0.2.
 */
BDL_API bdl_status bdl_predictor_draws(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out draws);

/** Computes quantiles as bdl_predict_quantiles_of() does. Since 0.4. */
BDL_API bdl_status bdl_predictor_quantiles_of(bdl_predictor* predictor, bdl_matrix x, bdl_quantity quantity,
                                              bdl_matrix levels, bdl_matrix_out quantiles);

/** Draws as many samples as the predictor has, as bdl_predict_draws_of() does. Since 0.4. */
BDL_API bdl_status bdl_predictor_draws_of(bdl_predictor* predictor, bdl_matrix x, bdl_quantity quantity,
                                          bdl_matrix_out draws);

/** Computes log likelihoods as bdl_predict_log_likelihood() does. Since 0.4. */
BDL_API bdl_status bdl_predictor_log_likelihood(bdl_predictor* predictor, bdl_matrix x, bdl_matrix y,
                                                bdl_matrix_out log_likelihood);

/**
 * Computes the distribution of outputs as bdl_predict_output_distribution() does, whatever the predictor's
 * method. Since 0.2.
 */
BDL_API bdl_status bdl_predictor_output_distribution(bdl_predictor* predictor, bdl_matrix x,
                                                     bdl_matrix_out mean, bdl_matrix_out covariance);

/** Computes leverages as bdl_predict_leverage() does, whatever the predictor's method. Since 0.3. */
BDL_API bdl_status bdl_predictor_leverage(bdl_predictor* predictor, bdl_matrix x, bdl_matrix_out leverage,
                                          bdl_matrix_out left_out);

#ifdef __cplusplus
}
#endif

#endif
