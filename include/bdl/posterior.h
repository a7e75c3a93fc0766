/**
 * @file posterior.h
 * Gaussian posteriors q(theta) = N(mu, Sigma) over D parameters. They need no model: give a posterior
 * gradient rows and it updates; ask it to sample, solve, or give variances.
 *
 * Families:
 *   low rank         Sigma^-1 = U U^T + diag(d), U: D x L. Rank L = 0 is the diagonal posterior.
 *   full             Sigma^-1 dense (D x D): for small D, and as the reference.
 *   full moment, diagonal moment
 *                    Sigma dense or diagonal: the same Gaussians, parametrised by the covariance instead of
 *                    the precision; a step of the same rule gives a different result (Jones, Chang, Murphy
 *                    2024).
 *   layerwise full   Sigma^-1 dense within each layer, weights and biases together, and 0 between layers:
 *                    what a full posterior does, for networks whose D^2 numbers are too many.
 *   Kronecker        for each layer a precision in a basis that is the Kronecker product of eigenvectors over
 *                    its inputs and over its outputs (Martens, Grosse 2015; George et al. 2018); 0 between
 *                    layers. Methods laplace, kfac and noisy-kfac learn it.
 *   low rank moment  Sigma = diag(s) + W W^T, W: D x K, and one such for each layer of a network (Tomczak,
 *                    Swaroop, Turner 2020): a few directions are uncertain together, above independent noise.
 *                    Methods elrg, elrg-d, mf-vi, low-rank-vi, k-tied and swag learn them.
 *   dropout          no Gaussian: a network's weights under random masks of its units (Gal, Ghahramani
 *                    2016). It has a mean, (co)variances and draws, so Monte-Carlo predictions work, but
 *                    no density, entropy, KL divergence or precision, and no linearised predictions:
 *                    those functions return BDL_ERROR_UNSUPPORTED, as do streams and
 *                    bdl_posterior_update().
 *
 * Point parameters, batch norm's scale and shift, have a mean and no uncertainty: their variances and
 * covariances are 0, their precisions infinite, their draws the mean; densities, entropies and divergences are
 * those of the other parameters. Among a posterior's tensors they stand as independent parameters of
 * variance 1, whatever is set. A network's posterior holds them, and its running statistics, from
 * bdl_optimizer_create() on (layerwise and dropout ones from the beginning).
 */
#ifndef BDL_POSTERIOR_H
#define BDL_POSTERIOR_H

#include "bdl/matrix.h"
#include "bdl/model.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bdl_posterior bdl_posterior;

/** Families of posteriors. */
typedef enum bdl_family {
  BDL_LOW_RANK = 1,                  /**< bdl_posterior_create_low_rank() */
  BDL_FULL = 2,                      /**< bdl_posterior_create_full() */
  BDL_FULL_MOMENT = 3,               /**< bdl_posterior_create_full_moment() */
  BDL_DIAGONAL_MOMENT = 4,           /**< bdl_posterior_create_diagonal_moment() */
  BDL_DROPOUT = 5,                   /**< bdl_posterior_create_dropout() */
  BDL_LAYERWISE_FULL = 6,            /**< bdl_posterior_create_layerwise_full() */
  BDL_LOW_RANK_MOMENT = 7,           /**< bdl_posterior_create_low_rank_moment() */
  BDL_LAYERWISE_LOW_RANK_MOMENT = 8, /**< bdl_posterior_create_layerwise_low_rank_moment() */
  BDL_KRONECKER = 9,                 /**< bdl_posterior_create_kronecker() */
  BDL_FAMILY_FORCE_INT32 = 0x7fffffff
} bdl_family;

/**
 * New low-rank-precision posterior, N(0, I) and blank: an optimizer initialises a blank posterior at
 * its first step (see bdl_optimizer_initialize()); setting or updating it ends that. Since 0.1.
 * @param dtype      BDL_F32 or BDL_F64; must be that of the model it is trained with
 * @param dimension  D >= 1
 * @param rank       L, 0 .. D; memory is D (L + 2) values
 * @param posterior  receives the handle; free with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_create_low_rank(bdl_dtype dtype, int64_t dimension, int64_t rank,
                                                 bdl_posterior** posterior);

/**
 * New full-covariance posterior, N(0, I) and blank; memory is about 16 D^2 bytes, and 24 D^2 once a stream has
 * process noise: it then keeps the covariance, too. Since 0.1.
 */
BDL_API bdl_status bdl_posterior_create_full(bdl_dtype dtype, int64_t dimension, bdl_posterior** posterior);

/**
 * New full-covariance posterior in moment parameters, N(0, I) and blank: it holds mu and Sigma, and steps
 * change these (Jones, Chang, Murphy 2024, "fc_mom"), where those of a full posterior change Sigma^-1 mu and
 * Sigma^-1. Since 0.1.
 * @param dtype      BDL_F32 or BDL_F64; must be that of the model it is trained with
 * @param dimension  D >= 1; memory is about 16 D^2 bytes
 * @param posterior  receives the handle; free with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_create_full_moment(bdl_dtype dtype, int64_t dimension,
                                                    bdl_posterior** posterior);

/**
 * New diagonal posterior in moment parameters, N(0, I) and blank: it holds mu and the variances v (Jones,
 * Chang, Murphy 2024, "diag_mom"), where that of rank 0 holds mu and 1 / v. Since 0.1.
 * @param dtype      BDL_F32 or BDL_F64; must be that of the model it is trained with
 * @param dimension  D >= 1
 * @param posterior  receives the handle; free with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_create_diagonal_moment(bdl_dtype dtype, int64_t dimension,
                                                        bdl_posterior** posterior);

/**
 * New dropout posterior of a network, blank, with mean 0. A draw is the mean with the weights that leave some
 * units set to 0, for each unit and layer that it feeds independently, and those of the others divided by 1 -
 * rate: their mean is the mean (Gal, Ghahramani 2016, whose M is mean / (1 - rate)). The units that feed a
 * convolution are the channels of its input. Biases and batch norm's parameters have no masks.
 * Samples of predictions are stochastic passes, whose masks serve all examples: each example's predictive
 * distribution is that of masks of its own, but those of different examples are correlated. BDL_PLUG_IN is
 * the network without dropout. Method "mc-dropout" learns it. Since 0.1.
 * @param model       a network, not a user's model
 * @param input_rate  probability that an input of the network is dropped, in [0, 1)
 * @param hidden_rate probability that a hidden unit is dropped, in [0, 1)
 * @param posterior   receives the handle, of the model's dtype; free with bdl_posterior_free(). It fits
 *                    models with the same layers only
 */
BDL_API bdl_status bdl_posterior_create_dropout(const bdl_model* model, double input_rate, double hidden_rate,
                                                bdl_posterior** posterior);

/**
 * New layerwise-full posterior of a model, N(0, I) and blank: independent blocks with a full covariance each,
 * one for each layer's weights and biases (all parameters of a user's model). It is learned by the methods of
 * full posteriors, each layer with its own part of the curvature. Since 0.1.
 * @param model      gives the layers and the dtype
 * @param posterior  receives the handle; free with bdl_posterior_free(). Memory is about 16 bytes times the
 *                   sum of the layers' squared sizes
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_layerwise_full(const bdl_model* model, bdl_posterior** posterior);

/**
 * New posterior of independent blocks of consecutive parameters with a full covariance each, N(0, I) and
 * blank: a layerwise-full one where the blocks are not a network's layers. Since 0.1.
 * @param dtype      BDL_F32 or BDL_F64; must be that of the model it is trained with
 * @param sizes      parameters of each block, >= 1
 * @param size_count number of blocks, >= 1; all sizes together are at most 2^31 - 1
 * @param posterior  receives the handle; free with bdl_posterior_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL and sizes out of range, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_blockwise_full(bdl_dtype dtype, const int64_t* sizes,
                                                       int32_t size_count, bdl_posterior** posterior);

/**
 * New posterior with a low-rank plus diagonal covariance, Sigma = diag(s) + W W^T with W: D x K, N(0, I) and
 * blank. bdl_posterior_create_low_rank() makes those whose precision is of that form: other Gaussians. Since
 * 0.2.
 * @param dtype      BDL_F32 or BDL_F64
 * @param dimension  D >= 1
 * @param rank       K, 0 .. the larger of D and 256; memory is D (K + 2) values and 2 K^2 doubles
 * @param posterior  receives the handle; free with bdl_posterior_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL and sizes out of range, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_low_rank_moment(bdl_dtype dtype, int64_t dimension, int64_t rank,
                                                        bdl_posterior** posterior);

/**
 * New posterior with the same mean and covariance as a Gaussian one, in full moment parameters: exact but for
 * rounding. Since 0.2.
 * @param posterior a Gaussian posterior
 * @param full      receives the handle; free with bdl_posterior_free(). Memory is D^2 values
 */
BDL_API bdl_status bdl_posterior_as_full(const bdl_posterior* posterior, bdl_posterior** full);

/**
 * New posterior of independent parameters with the same means and variances as a Gaussian one: of all
 * diagonal p the one with the smallest KL(q || p). Since 0.2.
 * @param posterior a Gaussian posterior
 * @param diagonal  receives the handle; free with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_as_diagonal(const bdl_posterior* posterior, bdl_posterior** diagonal);

/**
 * New layerwise posterior with low-rank plus diagonal covariances, N(0, I) and blank: an independent block
 * N(mu, diag(s) + W W^T) for each layer's weights and biases (Tomczak, Swaroop, Turner 2020, whose V is
 * sqrt(K) W). Its blocks are set with bdl_posterior_set_tensors(). Since 0.2.
 * @param model      gives the layers and the dtype
 * @param rank       K of every block, 0 .. 256
 * @param posterior  receives the handle; free with bdl_posterior_free(). Memory is D (K + 2) values and 2 K^2
 *                   doubles a layer
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL and ranks out of range, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_layerwise_low_rank_moment(const bdl_model* model, int64_t rank,
                                                                  bdl_posterior** posterior);

/**
 * New layerwise posterior with Kronecker-factored precisions, N(0, I) and blank: an independent block for each
 * dense layer and convolution. With its weights as a matrix W of o rows (outputs) and q columns (inputs), the
 * bias as last column, W - mean = Ug [E / sqrt(Lambda)] Uo^T for standard normal numbers E: orthogonal matrices
 * Ug (o x o) and Uo (q x q) of eigenvectors, and precisions Lambda > 0 (o x q) along their pairs, which need not
 * be products (Martens and Grosse 2015; George et al. 2018). The tensors of block k are called
 * "block<k>.output_vectors", "block<k>.input_vectors" and "block<k>.precision", whose row j belongs to input
 * vector j and column i to output vector i; bdl_posterior_set_tensors() sets them. Scales and shifts of a batch
 * norm are points. Methods "laplace", "kfac" and "noisy-kfac" learn it. Since 0.2.
 * @param model      a network; gives the layers and the dtype
 * @param posterior  receives the handle; free with bdl_posterior_free(). Memory is 2 o q + o^2 + q^2 values a
 *                   layer
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL, BDL_ERROR_UNSUPPORTED for user models and, naming the
 *         layer, for convolutions in groups, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_kronecker(const bdl_model* model, bdl_posterior** posterior);

/** An independent copy. Since 0.1. */
BDL_API bdl_status bdl_posterior_copy(const bdl_posterior* posterior, bdl_posterior** copy);

/** Frees the handle. NULL is fine. Since 0.1. */
BDL_API void bdl_posterior_free(bdl_posterior* posterior);

/** Number of parameters D; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_posterior_dimension(const bdl_posterior* posterior);

/**
 * Rank L of a low-rank posterior, K of a low-rank-moment one (of each block, if layerwise), D of a full,
 * full-moment or layerwise-full one; 0 for others and NULL. Since 0.1.
 */
BDL_API int64_t bdl_posterior_rank(const bdl_posterior* posterior);

/** Returns the bdl_family of a posterior; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_posterior_family(const bdl_posterior* posterior);

/** Returns the bdl_dtype of a posterior; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_posterior_dtype(const bdl_posterior* posterior);

/** 1 for a blank posterior, which neither the caller nor training has touched; else 0. Since 0.1. */
BDL_API int32_t bdl_posterior_is_blank(const bdl_posterior* posterior);

/**
 * Sets a low-rank posterior. Since 0.1.
 * @param posterior a low-rank posterior of rank L
 * @param mean      mu, 1 x D
 * @param low_rank  U, D x L (bdl_none() for rank 0 or for U = 0)
 * @param diagonal  d, 1 x D, positive
 */
BDL_API bdl_status bdl_posterior_set_low_rank(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix low_rank,
                                              bdl_matrix diagonal);

/**
 * Sets a full posterior. Since 0.1.
 * @param posterior a full posterior
 * @param mean      mu, 1 x D
 * @param precision Sigma^-1, D x D, symmetric to rounding and positive definite
 */
BDL_API bdl_status bdl_posterior_set_full(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix precision);

/**
 * Sets a full-moment posterior. Since 0.1.
 * @param posterior  a full-moment posterior
 * @param mean       mu, 1 x D
 * @param covariance Sigma, D x D, symmetric to rounding and positive definite
 */
BDL_API bdl_status bdl_posterior_set_full_moment(bdl_posterior* posterior, bdl_matrix mean,
                                                 bdl_matrix covariance);

/**
 * Sets a diagonal-moment posterior. Since 0.1.
 * @param posterior a diagonal-moment posterior
 * @param mean      mu, 1 x D
 * @param variance  v, 1 x D, positive
 */
BDL_API bdl_status bdl_posterior_set_diagonal_moment(bdl_posterior* posterior, bdl_matrix mean,
                                                     bdl_matrix variance);

/**
 * Sets a low-rank-moment posterior. Since 0.2.
 * @param posterior a low-rank-moment posterior of rank K
 * @param mean      mu, 1 x D
 * @param low_rank  W, D x K (bdl_none() for rank 0 or for W = 0)
 * @param diagonal  s, 1 x D, positive
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED for other families, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE,
 *         BDL_ERROR_INVALID_ARGUMENT for s <= 0
 */
BDL_API bdl_status bdl_posterior_set_low_rank_moment(bdl_posterior* posterior, bdl_matrix mean,
                                                     bdl_matrix low_rank, bdl_matrix diagonal);

/**
 * Sets a dropout posterior's mean. Since 0.1.
 * @param posterior a dropout posterior
 * @param mean      mu, 1 x D: the weights without dropout
 */
BDL_API bdl_status bdl_posterior_set_dropout(bdl_posterior* posterior, bdl_matrix mean);

/** Reads the rates of a dropout posterior; either pointer may be NULL. Since 0.1. */
BDL_API bdl_status bdl_posterior_dropout_rates(const bdl_posterior* posterior, double* input_rate,
                                               double* hidden_rate);

/**
 * Returns 1 if the posterior has a covariance. A mode, of which training has learned the mean only ("map", "sgd"), has
 * none: functions of its covariance and of its density fail with BDL_ERROR_UNSUPPORTED, predictions are those of the
 * mean with the noise, and tensors hold the start's numbers. Laplace's approximation, SWAG, steps of other methods and
 * numbers that you set give it one. 0 if posterior is NULL. Since 0.2.
 */
BDL_API int32_t bdl_posterior_has_covariance(const bdl_posterior* posterior);

/** Reads mu into 1 x D. Since 0.1. */
BDL_API bdl_status bdl_posterior_mean(const bdl_posterior* posterior, bdl_matrix_out mean);

/**
 * Reads the parts U (D x L) and d (1 x D) of a low-rank posterior; either may be bdl_none_out(). Since 0.2.
 */
BDL_API bdl_status bdl_posterior_get_low_rank(const bdl_posterior* posterior, bdl_matrix_out low_rank,
                                              bdl_matrix_out diagonal);

/**
 * Number of tensors that a posterior consists of; 0 for NULL. Since 0.1.
 *   low rank         mean (1 x D), low_rank (U, D x L), diagonal (d, 1 x D)
 *   full             mean, precision (D x D), factor (its lower Cholesky factor)
 *   full moment      mean, covariance (D x D), factor (its lower Cholesky factor)
 *   diagonal moment  mean, variance (1 x D)
 *   low rank moment  mean, low_rank (W, D x K), diagonal (s, 1 x D)
 *   dropout          mean
 *   layerwise full   mean, and block0.precision, block0.factor, block1.precision ... of the layers
 *   layerwise low rank moment
 *                    mean, and block0.low_rank, block0.diagonal, block1.low_rank ... of the layers
 * Behind the mean, posteriors of networks with batch norm have running_mean and running_variance (1 x number of
 * channels, layer after layer, BDL_F64).
 */
BDL_API int64_t bdl_posterior_tensor_count(const bdl_posterior* posterior);

/**
 * Describes a tensor. Any of the pointers but the first may be NULL. Since 0.1.
 * @param posterior a posterior
 * @param index     0 .. bdl_posterior_tensor_count() - 1
 * @param name      receives the name, a text that lives as long as the posterior
 * @param rows      receives the number of rows
 * @param cols      receives the number of columns
 * @param dtype     receives the bdl_dtype that the posterior holds it in: matrices of full families are
 *                  BDL_F64
 */
BDL_API bdl_status bdl_posterior_tensor_describe(const bdl_posterior* posterior, int64_t index,
                                                 const char** name, int64_t* rows, int64_t* cols,
                                                 int32_t* dtype);

/**
 * Reads a tensor. Since 0.2.
 * @param posterior a posterior
 * @param index     0 .. bdl_posterior_tensor_count() - 1
 * @param values    receives rows x cols numbers, of either floating type
 */
BDL_API bdl_status bdl_posterior_get_tensor(const bdl_posterior* posterior, int64_t index,
                                            bdl_matrix_out values);

/**
 * Sets tensors, all of them or, if one is refused, none. Those that are not named stay as they are, but a
 * factor is recomputed if its matrix is given without it; most callers leave factors alone. Since 0.1.
 * @param posterior    a posterior; it is not blank any more
 * @param names        tensor_count names as bdl_posterior_tensor_describe() gives them, each once
 * @param tensors      tensor_count matrices of the described shapes, finite: diagonals and variances
 *                     positive (running ones 0 or more), precisions and covariances symmetric to 1e-5 of
 *                     their diagonal and positive definite (their lower triangles count), a factor that of its
 *                     matrix
 * @param tensor_count >= 1
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for names that are unknown or twice and for values that are not
 *         as above, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE
 */
BDL_API bdl_status bdl_posterior_set_tensors(bdl_posterior* posterior, const char* const* names,
                                             const bdl_matrix* tensors, int64_t tensor_count);

/** Reads diag(Sigma^-1) into 1 x D. Since 0.1. */
BDL_API bdl_status bdl_posterior_precision_diagonal(const bdl_posterior* posterior, bdl_matrix_out diagonal);

/** Reads diag(Sigma), the marginal variances, into 1 x D. Since 0.1. */
BDL_API bdl_status bdl_posterior_marginal_variance(const bdl_posterior* posterior, bdl_matrix_out variance);

/**
 * Computes a block of Sigma. Since 0.1.
 * @param posterior  a posterior
 * @param rows       parameter indices, row_count of them
 * @param row_count  >= 1
 * @param cols       parameter indices, col_count of them
 * @param col_count  >= 1
 * @param covariance receives row_count x col_count
 */
BDL_API bdl_status bdl_posterior_covariance(const bdl_posterior* posterior, const int64_t* rows,
                                            int64_t row_count, const int64_t* cols, int64_t col_count,
                                            bdl_matrix_out covariance);

/**
 * Sigma x for each row of `vectors` (k x D), into `solution` (k x D), whose contents are unspecified after
 * BDL_ERROR_DIVERGED and BDL_STOPPED: large ones are computed there. Since 0.1.
 */
BDL_API bdl_status bdl_posterior_solve(const bdl_posterior* posterior, bdl_matrix vectors,
                                       bdl_matrix_out solution);

/**
 * Draws from q. Row i depends only on (seed, first + i), exactly, so draws can be made in any number of calls.
 * Cost O(D L) per draw. Since 0.1.
 * @param posterior a posterior
 * @param seed      key of the random stream
 * @param first     number of the first draw, 0 .. 2^32 - 1
 * @param samples   receives n x D; unspecified after BDL_ERROR_DIVERGED and BDL_STOPPED: draws are made there
 */
BDL_API bdl_status bdl_posterior_sample(const bdl_posterior* posterior, uint64_t seed, int64_t first,
                                        bdl_matrix_out samples);

/** log q(theta) of each row of `parameters` (n x D), in nats, into n x 1. Since 0.1. */
BDL_API bdl_status bdl_posterior_log_density(const bdl_posterior* posterior, bdl_matrix parameters,
                                             bdl_matrix_out log_density);

/** log det Sigma, in nats. Since 0.1. */
BDL_API bdl_status bdl_posterior_log_det_covariance(const bdl_posterior* posterior, double* log_det);

/** Differential entropy 1/2 (D + D log 2 pi + log det Sigma), in nats. Since 0.1. */
BDL_API bdl_status bdl_posterior_entropy(const bdl_posterior* posterior, double* entropy);

/**
 * KL(q || N(0, diag(prior_precision)^-1)), in nats. Since 0.1.
 * @param posterior       q
 * @param prior_precision 1 x 1 or 1 x D, positive
 * @param kl              receives the divergence
 */
BDL_API bdl_status bdl_posterior_kl_prior(const bdl_posterior* posterior, bdl_matrix prior_precision,
                                          double* kl);

/**
 * KL(q || p) in nats, of any two families over the same D and dtype, with the same point parameters; else
 * BDL_ERROR_SHAPE. Since 0.1.
 */
BDL_API bdl_status bdl_posterior_kl(const bdl_posterior* q, const bdl_posterior* p, double* kl);

/**
 * One natural-gradient step from gradient rows, without a model (Mishkin et al. 2018, equations 5 to
 * 11, the projection exact): with rows g_r of the negative log likelihood,
 *   Sigma^-1 <- project((1 - b) Sigma^-1 + b (scale sum_r g_r g_r^T + diag(prior precision)))
 *   mu       <- mu - a Sigma (scale sum_r g_r + prior precision mu)      (Sigma the new one)
 * and for a full-moment posterior, with the bracket as H (Jones, Chang, Murphy 2024, "fc_mom"),
 *   Sigma    <- (1 + b) Sigma - b Sigma H Sigma,    mu the same with the old Sigma,
 * likewise with diagonals for a diagonal-moment one; a step that would not leave a covariance is refused
 * with BDL_ERROR_DIVERGED.
 * Momentum, schedules and randomized projections: bdl_optimizer_step_rows(). Since 0.1.
 * @param posterior       q, changed
 * @param rows            n x D, n >= 1
 * @param scale           positive: N / n for n rows out of a data set of N (per Monte-Carlo sample)
 * @param learning_rate   a >= 0
 * @param curvature_rate  b in [0, 1)
 * @param prior_precision 1 x 1 or 1 x D, positive
 */
BDL_API bdl_status bdl_posterior_update(bdl_posterior* posterior, bdl_matrix rows, double scale,
                                        double learning_rate, double curvature_rate,
                                        bdl_matrix prior_precision);

#ifdef __cplusplus
}
#endif

#endif
