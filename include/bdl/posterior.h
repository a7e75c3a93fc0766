/**
 * @file posterior.h
 * Gaussian posteriors q(theta) = N(mu, Sigma) over D parameters. They need no model: you can update a
 * posterior with gradient rows, sample from it, multiply by its covariance, and read its variances.
 *
 * - low rank: Sigma^-1 = U U^T + diag(d), U: D x L. Rank L = 0 is the diagonal posterior
 * - full: Sigma^-1 dense (D x D), for small D and as the reference
 * - full moment, diagonal moment: Sigma dense or diagonal: the same Gaussians, parametrised by the
 *   covariance instead of the precision. A step of the same rule gives a different result (Jones, Chang,
 *   Murphy 2024)
 * - layerwise full: Sigma^-1 dense within each layer, weights and biases together, and 0 between layers,
 *   for networks whose D^2 numbers are too many
 * - Kronecker: for each layer a precision in the Kronecker product of two bases of eigenvectors, over its
 *   inputs and over its outputs (Martens, Grosse 2015; George et al. 2018), and 0 between layers. Methods
 *   laplace, kfac and noisy-kfac learn it
 * - low rank moment, layerwise low rank moment: Sigma = diag(s) + W W^T, W: D x K, for all parameters or
 *   for each layer (Tomczak, Swaroop, Turner 2020): a few directions are uncertain together, above
 *   independent noise. Methods elrg, elrg-d, mf-vi, low-rank-vi and k-tied learn both, swag learns the
 *   first
 * - dropout: not a Gaussian: the weights of a network under random masks of its units (Gal, Ghahramani
 *   2016)
 *
 * A dropout posterior has a mean, (co)variances and samples, so Monte-Carlo predictions work. It has no
 * density, entropy, KL divergence or precision, and no linearised predictions. These functions, streams and
 * bdl_posterior_update() return BDL_ERROR_UNSUPPORTED for it.
 *
 * Point parameters, which are the scale and shift of batch norm, have a mean and no uncertainty. Their
 * variances and covariances are 0, their precisions infinite, and their samples the mean. Densities,
 * entropies and divergences are those of the other parameters. Among a posterior's tensors, point
 * parameters are independent parameters of variance 1, whatever you set. A network's posterior holds them,
 * and its running statistics, from bdl_optimizer_create() on (layerwise and dropout posteriors from their
 * creation).
 *
 * A new posterior is N(0, I) and uninitialised ("blank", bdl_posterior_is_blank()): an optimizer
 * initialises it at its first step (bdl_optimizer_initialize()). Setting or updating the posterior also
 * ends that state.
 */
#ifndef BDL_POSTERIOR_H
#define BDL_POSTERIOR_H

#include "bdl/matrix.h"
#include "bdl/model.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A distribution over the parameters. */
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
 * Creates a low-rank-precision posterior, uninitialised. Since 0.1.
 * @param dtype     BDL_F32 or BDL_F64; must be that of the model that it is trained with
 * @param dimension D >= 1
 * @param rank      L, 0 to D; memory is D (L + 2) values
 * @param posterior receives the handle; free it with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_create_low_rank(bdl_dtype dtype, int64_t dimension, int64_t rank,
                                                 bdl_posterior** posterior);

/**
 * Creates a full-covariance posterior, uninitialised. Memory is about 16 D^2 bytes, and 24 D^2 after a
 * stream with process noise, which also keeps the covariance. Since 0.1.
 * @param dtype     BDL_F32 or BDL_F64; must be that of the model that it is trained with
 * @param dimension D >= 1
 * @param posterior receives the handle; free it with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_create_full(bdl_dtype dtype, int64_t dimension, bdl_posterior** posterior);

/**
 * Creates a full-covariance posterior in moment parameters, uninitialised. It holds mu and Sigma, and steps
 * change these (Jones, Chang, Murphy 2024, "fc_mom"); the steps of a full posterior change Sigma^-1 mu and
 * Sigma^-1. Since 0.1.
 * @param dtype     BDL_F32 or BDL_F64; must be that of the model that it is trained with
 * @param dimension D >= 1; memory is about 16 D^2 bytes
 * @param posterior receives the handle; free it with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_create_full_moment(bdl_dtype dtype, int64_t dimension,
                                                    bdl_posterior** posterior);

/**
 * Creates a diagonal posterior in moment parameters, uninitialised. It holds mu and the variances v (Jones,
 * Chang, Murphy 2024, "diag_mom"); a low-rank posterior of rank 0 holds mu and 1 / v. Since 0.1.
 * @param dtype     BDL_F32 or BDL_F64; must be that of the model that it is trained with
 * @param dimension D >= 1
 * @param posterior receives the handle; free it with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_create_diagonal_moment(bdl_dtype dtype, int64_t dimension,
                                                        bdl_posterior** posterior);

/**
 * Creates a dropout posterior of a network, uninitialised, with mean 0. A sample drops some units, for each
 * unit and each layer that the unit feeds independently: it sets their weights to 0 and divides the weights
 * of the other units by 1 - rate. The mean of these samples is the mean of the posterior (Gal, Ghahramani
 * 2016, whose M is mean / (1 - rate)). The units that feed a convolution are the channels of its input.
 * Biases and batch norm's parameters have no masks. Since 0.1.
 *
 * The samples of a prediction are stochastic passes with one mask for all examples. Each example's
 * predictive distribution is the same as with separate masks, but the distributions of different examples
 * are correlated. BDL_PLUG_IN is the network without dropout. Method "mc-dropout" learns this posterior.
 * @param model       a network, not a custom model
 * @param input_rate  probability that an input of the network is dropped, in [0, 1)
 * @param hidden_rate probability that a hidden unit is dropped, in [0, 1)
 * @param posterior   receives the handle, of the model's dtype; free it with bdl_posterior_free(). It fits
 *                    models with the same layers only
 */
BDL_API bdl_status bdl_posterior_create_dropout(const bdl_model* model, double input_rate, double hidden_rate,
                                                bdl_posterior** posterior);

/**
 * Creates a layerwise-full posterior of a model, uninitialised: independent blocks with a full covariance,
 * one for the weights and biases of each layer (one for all parameters of a custom model). The methods of
 * full posteriors learn it, with each layer's own part of the curvature. Since 0.1.
 * @param model     gives the layers and the dtype
 * @param posterior receives the handle; free it with bdl_posterior_free(). Memory is about 16 bytes times
 *                  the sum of the layers' squared sizes
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_layerwise_full(const bdl_model* model, bdl_posterior** posterior);

/**
 * Creates a posterior of independent blocks of consecutive parameters with a full covariance each,
 * uninitialised: a layerwise-full posterior whose blocks need not be the layers of a network. Since 0.1.
 * @param dtype      BDL_F32 or BDL_F64; must be that of the model that it is trained with
 * @param sizes      parameters of each block, >= 1
 * @param size_count number of blocks, >= 1; the sum of all sizes is at most 2^31 - 1
 * @param posterior  receives the handle; free it with bdl_posterior_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL and sizes out of range, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_blockwise_full(bdl_dtype dtype, const int64_t* sizes,
                                                       int32_t size_count, bdl_posterior** posterior);

/**
 * Creates a posterior with a low-rank plus diagonal covariance, Sigma = diag(s) + W W^T with W: D x K,
 * uninitialised. The posteriors of bdl_posterior_create_low_rank() have a precision of that form, and are
 * other Gaussians. Since 0.2.
 * @param dtype     BDL_F32 or BDL_F64
 * @param dimension D >= 1
 * @param rank      K, 0 to the larger of D and 256; memory is D (K + 2) values and 2 K^2 doubles
 * @param posterior receives the handle; free it with bdl_posterior_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL and sizes out of range, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_low_rank_moment(bdl_dtype dtype, int64_t dimension, int64_t rank,
                                                        bdl_posterior** posterior);

/**
 * Creates a full-moment posterior with the same mean and covariance as a Gaussian one, exact to rounding.
 * Since 0.2.
 * @param posterior a Gaussian posterior
 * @param full      receives the handle; free it with bdl_posterior_free(). Memory is D^2 values
 */
BDL_API bdl_status bdl_posterior_as_full(const bdl_posterior* posterior, bdl_posterior** full);

/**
 * Creates a diagonal-moment posterior with the same means and variances as a Gaussian one. It has the
 * smallest KL(q || p) of all diagonal posteriors p. Since 0.2.
 * @param posterior a Gaussian posterior
 * @param diagonal  receives the handle; free it with bdl_posterior_free()
 */
BDL_API bdl_status bdl_posterior_as_diagonal(const bdl_posterior* posterior, bdl_posterior** diagonal);

/**
 * Creates a layerwise posterior with low-rank plus diagonal covariances, uninitialised: an independent
 * block N(mu, diag(s) + W W^T) for the weights and biases of each layer (Tomczak, Swaroop, Turner 2020,
 * whose V is sqrt(K) W). bdl_posterior_set_tensors() sets its blocks. Since 0.2.
 * @param model     gives the layers and the dtype
 * @param rank      K of every block, 0 to 256
 * @param posterior receives the handle; free it with bdl_posterior_free(). Memory is D (K + 2) values and 2
 *                  K^2 doubles a layer
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL and ranks out of range, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_layerwise_low_rank_moment(const bdl_model* model, int64_t rank,
                                                                  bdl_posterior** posterior);

/**
 * Creates a layerwise posterior with Kronecker-factored precisions, uninitialised: an independent block for
 * each dense layer and convolution. Take the weights of a layer as a matrix W of o rows (outputs) and q
 * columns (inputs), with the bias as last column. Then W - mean = Ug [E / sqrt(Lambda)] Uo^T, with standard
 * normal numbers E, orthogonal matrices Ug (o x o) and Uo (q x q) of eigenvectors, and precisions Lambda >
 * 0 (o x q) along their pairs, which need not be products (Martens and Grosse 2015; George et al. 2018).
 * Scales and shifts of a batch norm are points. Methods "laplace", "kfac" and "noisy-kfac" learn this
 * posterior. Since 0.2.
 *
 * The tensors of block k are called "block<k>.output_vectors", "block<k>.input_vectors" and
 * "block<k>.precision". Row j of the precisions belongs to input vector j, and column i to output vector i.
 * bdl_posterior_set_tensors() sets them.
 * @param model     a network; gives the layers and the dtype
 * @param posterior receives the handle; free it with bdl_posterior_free(). Memory is 2 o q + o^2 + q^2
 *                  values a layer
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for NULL, BDL_ERROR_UNSUPPORTED for custom models and, naming
 *         the layer, for convolutions in groups, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_posterior_create_kronecker(const bdl_model* model, bdl_posterior** posterior);

/** Makes an independent copy. Since 0.1. */
BDL_API bdl_status bdl_posterior_copy(const bdl_posterior* posterior, bdl_posterior** copy);

/** Frees the handle. NULL is allowed. Since 0.1. */
BDL_API void bdl_posterior_free(bdl_posterior* posterior);

/** Returns the number of parameters D; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_posterior_dimension(const bdl_posterior* posterior);

/**
 * Returns the rank: L of a low-rank posterior, K of a low-rank-moment one (of each block, if layerwise), D
 * of a full, full-moment or layerwise-full one; 0 for other families and NULL. Since 0.1.
 */
BDL_API int64_t bdl_posterior_rank(const bdl_posterior* posterior);

/** Returns the bdl_family of a posterior; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_posterior_family(const bdl_posterior* posterior);

/** Returns the bdl_dtype of a posterior; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_posterior_dtype(const bdl_posterior* posterior);

/**
 * Returns 1 for an uninitialised posterior, which neither the caller nor training has changed; else 0.
 * Since 0.1.
 */
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

/** Reads the rates of a dropout posterior. Either out-pointer may be NULL. Since 0.1. */
BDL_API bdl_status bdl_posterior_dropout_rates(const bdl_posterior* posterior, double* input_rate,
                                               double* hidden_rate);

/**
 * Returns 1 if the posterior has a covariance, 0 for a mode and NULL. A mode is a posterior of which
 * training has learned the mean only ("map", "sgd"). Functions of its covariance and of its density return
 * BDL_ERROR_UNSUPPORTED, predictions are those of the mean with the noise, and its tensors hold the numbers
 * of the start. Laplace's approximation, SWAG, steps of other methods and numbers that you set give a mode
 * a covariance. Since 0.3.
 */
BDL_API int32_t bdl_posterior_has_covariance(const bdl_posterior* posterior);

/** Reads the mean mu into 1 x D. Since 0.1. */
BDL_API bdl_status bdl_posterior_mean(const bdl_posterior* posterior, bdl_matrix_out mean);

/**
 * Reads the parts U (D x L) and d (1 x D) of a low-rank posterior; either output may be bdl_none_out().
 * Since 0.2.
 */
BDL_API bdl_status bdl_posterior_get_low_rank(const bdl_posterior* posterior, bdl_matrix_out low_rank,
                                              bdl_matrix_out diagonal);

/**
 * Returns the number of tensors that a posterior consists of; 0 for NULL. Since 0.1.
 *
 *     low rank                   mean (1 x D), low_rank (U, D x L), diagonal (d, 1 x D)
 *     full                       mean, precision (D x D), factor (its lower Cholesky factor)
 *     full moment                mean, covariance (D x D), factor (its lower Cholesky factor)
 *     diagonal moment            mean, variance (1 x D)
 *     low rank moment            mean, low_rank (W, D x K), diagonal (s, 1 x D)
 *     dropout                    mean
 *     layerwise full             mean, block0.precision, block0.factor, block1.precision ...
 *     layerwise low rank moment  mean, block0.low_rank, block0.diagonal, block1.low_rank ...
 *     Kronecker                  mean, block0.output_vectors, block0.input_vectors, block0.precision ...
 *
 * After the mean, posteriors of networks with batch norm have running_mean and running_variance (1 x number
 * of channels, layer after layer, BDL_F64).
 */
BDL_API int64_t bdl_posterior_tensor_count(const bdl_posterior* posterior);

/**
 * Describes a tensor. Any out-pointer may be NULL. Since 0.1.
 * @param posterior a posterior
 * @param index     0 to bdl_posterior_tensor_count() - 1
 * @param name      receives the name, a text that lives as long as the posterior
 * @param rows      receives the number of rows
 * @param cols      receives the number of columns
 * @param dtype     receives the bdl_dtype in which the posterior holds the tensor: matrices of full
 *                  families are BDL_F64
 */
BDL_API bdl_status bdl_posterior_tensor_describe(const bdl_posterior* posterior, int64_t index,
                                                 const char** name, int64_t* rows, int64_t* cols,
                                                 int32_t* dtype);

/**
 * Reads a tensor. Since 0.2.
 * @param posterior a posterior
 * @param index     0 to bdl_posterior_tensor_count() - 1
 * @param values    receives rows x cols numbers, of either floating type
 */
BDL_API bdl_status bdl_posterior_get_tensor(const bdl_posterior* posterior, int64_t index,
                                            bdl_matrix_out values);

/**
 * Sets tensors: all of them or, if one is refused, none. Tensors that are not named do not change, except
 * that a factor is recomputed if its matrix is given without it. Most callers do not set factors. The
 * posterior counts as initialised. Since 0.1.
 * @param posterior    a posterior
 * @param names        tensor_count names as bdl_posterior_tensor_describe() gives them, each once
 * @param tensors      tensor_count matrices of the described shapes, finite. Diagonals and variances must
 *                     be positive (running ones 0 or more), precisions and covariances symmetric to 1e-5 of
 *                     their diagonal and positive definite (their lower triangles count), and a factor must
 *                     be that of its matrix
 * @param tensor_count >= 1
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT for unknown or repeated names and for values that are not as
 *         above, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE
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
 * Computes mean and covariance of the coefficients of a generalised linear model, in the caller's units
 * (bdl_model_coefficients()). Standard deviations are the roots of the covariance's diagonal. Since 0.4.
 * @param posterior  a posterior over the model's parameters
 * @param model      a generalised linear model
 * @param base_class number of the base class of BDL_CATEGORICAL, or -1 for none
 * @param mean       receives 1 x K, K = bdl_model_coefficient_count(model, base_class); may be bdl_none_out()
 * @param covariance receives K x K; may be bdl_none_out()
 */
BDL_API bdl_status bdl_posterior_coefficients(const bdl_posterior* posterior, const bdl_model* model,
                                              int64_t base_class, bdl_matrix_out mean,
                                              bdl_matrix_out covariance);

/**
 * Computes Sigma x for each row x of `vectors`. Large outputs are computed in place, so their contents are
 * unspecified after BDL_ERROR_DIVERGED, BDL_ERROR_OUT_OF_MEMORY and BDL_STOPPED. Since 0.1.
 * @param posterior a posterior
 * @param vectors   k x D
 * @param solution  receives k x D
 */
BDL_API bdl_status bdl_posterior_solve(const bdl_posterior* posterior, bdl_matrix vectors,
                                       bdl_matrix_out solution);

/**
 * Draws samples from q, at cost O(D L) each. Row i depends on (seed, first + i) only, so samples can be
 * drawn in any number of calls. Since 0.1.
 * @param posterior a posterior
 * @param seed      key of the random stream
 * @param first     number of the first sample, 0 to 2^32 - 1
 * @param samples   receives n x D. Many are drawn in place, so their contents are unspecified after
 *                  BDL_ERROR_DIVERGED, BDL_ERROR_OUT_OF_MEMORY and BDL_STOPPED
 */
BDL_API bdl_status bdl_posterior_sample(const bdl_posterior* posterior, uint64_t seed, int64_t first,
                                        bdl_matrix_out samples);

/**
 * Computes log q(theta) of each row of `parameters`, in nats. Since 0.1.
 * @param posterior   a posterior
 * @param parameters  n x D
 * @param log_density receives n x 1
 */
BDL_API bdl_status bdl_posterior_log_density(const bdl_posterior* posterior, bdl_matrix parameters,
                                             bdl_matrix_out log_density);

/** Computes log det Sigma, in nats. Since 0.1. */
BDL_API bdl_status bdl_posterior_log_det_covariance(const bdl_posterior* posterior, double* log_det);

/** Computes the differential entropy 1/2 (D + D log 2 pi + log det Sigma), in nats. Since 0.1. */
BDL_API bdl_status bdl_posterior_entropy(const bdl_posterior* posterior, double* entropy);

/**
 * Computes KL(q || N(0, diag(prior_precision)^-1)), in nats. Since 0.1.
 * @param posterior       q
 * @param prior_precision 1 x 1 or 1 x D, positive
 * @param kl              receives the divergence
 */
BDL_API bdl_status bdl_posterior_kl_prior(const bdl_posterior* posterior, bdl_matrix prior_precision,
                                          double* kl);

/**
 * Computes KL(q || p) in nats, for any two families over the same D and dtype, with the same point
 * parameters; else BDL_ERROR_SHAPE. Since 0.1.
 * @param q  a posterior
 * @param p  another posterior
 * @param kl receives the divergence
 */
BDL_API bdl_status bdl_posterior_kl(const bdl_posterior* q, const bdl_posterior* p, double* kl);

/**
 * Takes one natural-gradient step from gradient rows, without a model (Mishkin et al. 2018, equations 5 to
 * 11, with the exact projection). Since 0.1.
 *
 * With rows g_r of the negative log likelihood,
 *
 *     Sigma^-1 <- project((1 - b) Sigma^-1 + b (scale sum_r g_r g_r^T + diag(prior precision)))
 *     mu       <- mu - a Sigma (scale sum_r g_r + prior precision mu)      (Sigma the new one)
 *
 * and for a full-moment posterior, with H the matrix that b multiplies (Jones, Chang, Murphy 2024,
 * "fc_mom"),
 *
 *     Sigma    <- (1 + b) Sigma - b Sigma H Sigma,    mu the same with the old Sigma,
 *
 * and with diagonals for a diagonal-moment posterior. A step that would not leave a covariance returns
 * BDL_ERROR_DIVERGED. For momentum, schedules and randomized projections see bdl_optimizer_step_rows().
 * @param posterior       q, changed
 * @param rows            n x D, n >= 1
 * @param scale           positive: N / n for n rows of a data set of N (for each Monte-Carlo sample)
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
