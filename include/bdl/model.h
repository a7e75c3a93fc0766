/**
 * @file model.h
 * Models: a network, or a custom model (your code behind callbacks), with a likelihood.
 *
 * The parameters form one vector theta of D = bdl_model_parameters() values: layer by layer the weight
 * matrix (outputs x inputs, row-major), and then the bias (outputs values). bdl_model_block() lists the
 * blocks.
 */
#ifndef BDL_MODEL_H
#define BDL_MODEL_H

#include <stddef.h>

#include "bdl/matrix.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A network or a custom model, with its likelihood, noise, standardisation and names. */
typedef struct bdl_model bdl_model;

/** Activations. z is the number that the activation is applied to. */
typedef enum bdl_activation {
  BDL_IDENTITY = 1,
  BDL_RELU = 2,
  BDL_LEAKY_RELU = 3, /**< slope 0.01 below zero */
  BDL_ELU = 4,        /**< exp(z) - 1 below zero */
  BDL_GELU = 5,       /**< z Phi(z), exact (erf) */
  BDL_TANH = 6,
  BDL_SIGMOID = 7,
  BDL_SOFTPLUS = 8, /**< log(1 + exp(z)) */
  BDL_SWISH = 9,    /**< z sigmoid(z) */
  BDL_ACTIVATION_FORCE_INT32 = 0x7fffffff
} bdl_activation;

/** Likelihoods p(y | f), where f are the outputs of the model and C is their number. */
typedef enum bdl_likelihood {
  BDL_GAUSSIAN = 1,    /**< y: C real columns, y ~ N(f, 1 / noise precision), or N(f, noise covariance) */
  BDL_BERNOULLI = 2,   /**< y: C columns of 0 or 1, f are logits */
  BDL_CATEGORICAL = 3, /**< y: one column of class numbers from 0 to C - 1, f are logits */
  BDL_POISSON = 4,     /**< y: C columns of counts 0, 1, 2, ..., f are log rates */
  /** y: T = C / 2 real columns, y_t ~ N(f_t, 1 / (noise precision * exp(f_(T + t)))). The outputs are T
   * means, then T log noise precisions. fit takes these as 0 before option "heteroscedastic_from". */
  BDL_HETEROSCEDASTIC = 5,
  /** y: C real columns, y ~ f + t / sqrt(noise precision), where t has Student's t distribution
   * (bdl_model_set_degrees_of_freedom()). */
  BDL_STUDENT_T = 6,
  BDL_PROBIT = 7,  /**< y: C columns of 0 or 1, P(y = 1) = Phi(f), the normal distribution function */
  BDL_CLOGLOG = 8, /**< y: C columns of 0 or 1, P(y = 1) = 1 - exp(-exp(f)) (complementary log-log) */
  /** y: C columns of counts of mean mu = exp(f) and variance mu + mu^2 / shape (bdl_model_set_shape()). */
  BDL_NEGATIVE_BINOMIAL = 9,
  /** y: C columns of positive numbers of mean mu = exp(f) and variance mu^2 / shape. */
  BDL_GAMMA = 10,
  /** y: one column of levels 0, 1, ..., K - 1, P(y <= k) = 1 / (1 + exp(f - cut point k)), with one output f
   * (bdl_model_set_levels()). */
  BDL_ORDINAL = 11,
  BDL_LIKELIHOOD_FORCE_INT32 = 0x7fffffff
} bdl_likelihood;

/** Distributions of initial weights; biases are 0 except for BDL_INIT_UNIFORM_FAN_IN. */
typedef enum bdl_initialization {
  BDL_INIT_UNIFORM_FAN_IN = 1, /**< weights and biases U(+-1/sqrt(inputs)), as in SLANG's published runs */
  BDL_INIT_XAVIER = 2,         /**< U(+-sqrt(6 / (inputs + outputs))) (Glorot and Bengio 2010) */
  BDL_INIT_HE = 3,             /**< N(0, 2 / inputs) (He et al. 2015) */
  BDL_INIT_HE_FAN_OUT = 4,     /**< convolutions N(0, 2 / outputs), as in published ResNets; dense as 1 */
  BDL_INIT_XAVIER_NORMAL = 5,  /**< N(0, 2 / (inputs + outputs)) (Glorot and Bengio 2010) */
  BDL_INITIALIZATION_FORCE_INT32 = 0x7fffffff
} bdl_initialization;

/**
 * Creates a multilayer perceptron: dense layers with one activation after every layer but the last, which
 * is linear. Since 0.1.
 * @param dtype      arithmetic of the model: BDL_F32 or BDL_F64
 * @param sizes      widths of the layers: inputs, hidden widths ..., outputs; each >= 1. Two entries give a
 *                   generalised linear model
 * @param size_count number of entries of sizes, >= 2
 * @param activation activation after every layer but the last
 * @param bias       1: every layer has a bias, 0: no layer has one
 * @param likelihood BDL_CATEGORICAL needs at least 2 outputs, BDL_HETEROSCEDASTIC two for each target
 * @param model      receives the new handle; free it with bdl_model_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_create_mlp(bdl_dtype dtype, const int64_t* sizes, int32_t size_count,
                                        bdl_activation activation, int32_t bias, bdl_likelihood likelihood,
                                        bdl_model** model);

/**
 * Creates a network from a text that describes its layers in sequence, one layer a line. ';' also ends a
 * line, and '#' begins a comment. Since 0.1.
 *
 *     input 13                features; or channels, rows, columns (in this order): input 3 32 32
 *     dense OUTPUTS [nobias]  a dense layer; it takes all numbers of an image
 *     conv FILTERS KERNEL [stride s] [pad p] [groups g] [nobias]
 *                             cross-correlation with square kernels. Without these words s is 1, and p, the
 *                             zeros at each side, is 0. With groups, each part of the channels has its part
 *                             of the filters
 *     maxpool K [stride s] [pad p], avgpool K [stride s] [pad p]
 *                             pooling of K x K pixels; s is K if not given. avgpool counts the padding as
 *                             zeros
 *     globalavgpool           the mean of each channel
 *     crop ROWS [COLUMNS]     the middle of each channel; square without COLUMNS
 *     flatten                 an image as features: channel by channel, row by row
 *     relu                    or another activation: identity, leaky_relu, elu, gelu, tanh, sigmoid,
 *                             softplus, swish
 *     dropout RATE            in training, each number is set to 0 with probability RATE in [0, 1), and else
 *                             divided by 1 - RATE, independently for each example and sample (Srivastava et
 *                             al. 2014)
 *     batchnorm [momentum 0.1] [eps 1e-5] [noaffine]
 *                             each channel (or feature) minus its mean, over its standard deviation, times
 *                             a scale, plus a shift (Ioffe, Szegedy 2015). Training takes mean and variance
 *                             from the minibatch; predictions take running ones, which belong to the
 *                             posterior. Scale and shift are point parameters (posterior.h)
 *     residual ... end        the sum of a sequence of layers and its input
 *     residual ... shortcut ... end
 *                             the sum of two sequences of layers. A residual may contain others
 *
 * bdl_model_create_mlp() gives the same network as its description does. Parameters lie in the order of the
 * lines, weights before bias. A text has at most 4096 lines (empty lines and each ';' count), 10^6
 * characters, 16 levels of residuals, 2^31 - 1 parameters, and layers that hold 2^28 numbers for an example
 * in all.
 * @param dtype       arithmetic of the model: BDL_F32 or BDL_F64
 * @param description the text; its last layer gives the outputs
 * @param likelihood  BDL_CATEGORICAL needs at least 2 outputs, BDL_HETEROSCEDASTIC two for each target
 * @param model       receives the new handle; free it with bdl_model_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT naming the line, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_create_network(bdl_dtype dtype, const char* description,
                                            bdl_likelihood likelihood, bdl_model** model);

/** Returns the number of published networks that the library knows by name. Since 0.2. */
BDL_API int64_t bdl_network_count(void);

/**
 * Describes the i-th published network. Any out-pointer may be NULL; strings are static. Since 0.2.
 * @param index    0 to bdl_network_count() - 1
 * @param name     receives the name: "lenet5", "alexnet", "resnet18", "resnet18-cifar"
 * @param channels receives the channels of the images that the network was published for
 * @param rows     receives the rows of these images
 * @param columns  receives the columns of these images
 * @param outputs  receives the number of classes that the network was published for
 * @param doc      receives a sentence
 * @param source   receives the papers
 */
BDL_API bdl_status bdl_network_describe(int64_t index, const char** name, int64_t* channels, int64_t* rows,
                                        int64_t* columns, int64_t* outputs, const char** doc,
                                        const char** source);

/**
 * Returns a published network as a text for bdl_model_create_network(), which you may edit. Images may have
 * other sizes than the published ones; bdl_model_create_network() checks whether each layer fits. Since
 * 0.2.
 * @param name     as from bdl_network_describe(); for other names BDL_ERROR_INVALID_ARGUMENT names the
 *                 nearest
 * @param channels channels of the images, >= 1
 * @param rows     rows of the images, >= 1
 * @param columns  columns of the images, >= 1
 * @param outputs  outputs of the last layer, one for each class, >= 1
 * @param text     receives the text, which the library keeps as long as the process runs: the same pointer
 *                 for the same arguments
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_network_description(const char* name, int64_t channels, int64_t rows, int64_t columns,
                                           int64_t outputs, const char** text);

/**
 * Describes the layers of a model as a text for bdl_model_create_network(), without comments and defaults.
 * Two networks with the same text are the same function of their parameters. Since 0.1.
 * @param model       a network; custom models return BDL_ERROR_UNSUPPORTED
 * @param description receives the text, which the model owns: it lives as long as the model
 */
BDL_API bdl_status bdl_model_description(const bdl_model* model, const char** description);

/**
 * Callback: computes the outputs of a custom model. Arrays have the dtype of the model.
 * @param user_data  as in bdl_model_callbacks
 * @param parameters theta, 1 x D
 * @param inputs     M x inputs
 * @param outputs    M x C, to be written
 * @return 0; any other value fails the call in progress with BDL_ERROR_CALLBACK
 */
typedef int32_t (*bdl_outputs_fn)(void* user_data, bdl_matrix parameters, bdl_matrix inputs,
                                  bdl_matrix_out outputs);

/**
 * Callback: computes gradient rows, one for each example. Row i of `rows` is sum_c output_gradients(i, c) d
 * f_c(x_i; theta) / d theta: the product of the output gradients with the Jacobian.
 * @param user_data        as in bdl_model_callbacks
 * @param parameters       theta, 1 x D
 * @param inputs           M x inputs
 * @param output_gradients M x C
 * @param rows             M x D, to be written
 * @return 0; any other value fails the call in progress with BDL_ERROR_CALLBACK
 */
typedef int32_t (*bdl_gradients_fn)(void* user_data, bdl_matrix parameters, bdl_matrix inputs,
                                    bdl_matrix output_gradients, bdl_matrix_out rows);

/**
 * Callbacks that make up a custom model. Later versions append members. Members beyond the caller's
 * struct_size count as NULL, so programs that were built with older headers still work. Since 0.2.
 *
 *     const bdl_model_callbacks callbacks = {.struct_size = sizeof callbacks, .outputs = my_outputs};
 */
typedef struct bdl_model_callbacks {
  /** sizeof(bdl_model_callbacks), as the caller was compiled. */
  size_t struct_size;
  /** Computes outputs from parameters and inputs; not NULL. */
  bdl_outputs_fn outputs;
  /** Computes gradient rows from parameters, inputs and output gradients; NULL: predictions only. */
  bdl_gradients_fn gradients;
  /** Passed to the callbacks. */
  void* user_data;
  /** Called once with user_data, when the last handle that uses the model is freed; may be NULL. */
  void (*destroy)(void* user_data);
} bdl_model_callbacks;

/**
 * Creates a custom model from callbacks: your code, such as a simulator, an ODE or a network of another
 * library. Callbacks run on the thread of the call that needs them. If you make calls with a const handle
 * of the model concurrently, the callbacks must be safe to run concurrently. A callback that throws makes
 * the call fail. Since 0.2.
 * @param dtype      type of every array that the callbacks receive
 * @param inputs     columns of x, >= 1
 * @param outputs    number of outputs C, >= 1
 * @param parameters number of parameters D, >= 1
 * @param likelihood p(y | f)
 * @param callbacks  the struct is copied; its functions and user_data are used until the model is freed. A
 *                   struct_size that is too small for `outputs`, cuts a member in two, or is larger than
 *                   this version's is BDL_ERROR_INVALID_ARGUMENT
 * @param model      receives the new handle. If creation fails, destroy is not called
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_create_user(bdl_dtype dtype, int64_t inputs, int64_t outputs, int64_t parameters,
                                         bdl_likelihood likelihood, const bdl_model_callbacks* callbacks,
                                         bdl_model** model);

/**
 * Makes an independent copy with the same layers, noise and standardisation; later changes to one do not
 * affect the other. A custom model shares its callbacks and user_data with its copies; `destroy` is called
 * when the last copy is freed. Since 0.2.
 * @param model a model
 * @param copy  receives the new handle; free it with bdl_model_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_copy(const bdl_model* model, bdl_model** copy);

/** Frees the handle. NULL is allowed. Since 0.1. */
BDL_API void bdl_model_free(bdl_model* model);

/** Returns the number of parameters D; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_model_parameters(const bdl_model* model);

/** Returns the number of inputs, to which offsets do not belong; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_model_inputs(const bdl_model* model);

/** Returns the number of outputs C; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_model_outputs(const bdl_model* model);

/**
 * Returns the number of targets, columns of y without the weight: 1 for BDL_CATEGORICAL, C / 2 for
 * BDL_HETEROSCEDASTIC, else C; 0 for NULL. Since 0.1.
 */
BDL_API int64_t bdl_model_targets(const bdl_model* model);

/**
 * Says whether rows have weights. If they do, y has one more column, the last one: a finite weight of at
 * least 0 for each row, not 0 in all of them. This holds wherever y is passed: in training, observations,
 * scores, data sets of arrays, callbacks and files. A row of weight 2 counts as if it stood there twice, and a
 * row of weight 0 as if it did not: in the ELBO, in curvature, learned noise and priors, standardisation,
 * cross-validation and scores (log densities are multiplied by the weight). The number N of examples of
 * bdl_optimizer_create() stays the number of rows; training counts the sum of the weights.
 *
 * With BDL_BERNOULLI the weight is a number of trials. A target is then the share of successes, a number from
 * 0 to 1, and densities are those of the number of successes (with the binomial coefficient). Rows with the
 * counts of equal rows give the same posterior as the equal rows.
 *
 * The setting is saved with the model. Since 0.4.
 * @param model a model that no optimizer and no predictor has yet; else BDL_ERROR_UNSUPPORTED
 * @param given 1: rows have weights, 0: they have none, as in a new model
 */
BDL_API bdl_status bdl_model_set_row_weights(bdl_model* model, int32_t given);

/** Returns 1 if rows have weights, else 0; 0 for NULL. Since 0.4. */
BDL_API int32_t bdl_model_has_row_weights(const bdl_model* model);

/**
 * Says whether rows have offsets. If they do, x has more columns, the last ones: one number for each output
 * (for each target with BDL_HETEROSCEDASTIC), which is added to it: f(x) + offset. This holds wherever x is
 * passed, in predictions too. Offsets are in the units of the outputs: those of y for likelihoods of real
 * numbers, the log of the exposure for BDL_POISSON. They are not standardised as inputs are, no posterior and
 * no derivative belongs to them, and callbacks of custom models do not see them. The setting is saved with
 * the model. Since 0.4.
 * @param model a model that no optimizer and no predictor has yet; else BDL_ERROR_UNSUPPORTED
 * @param given 1: rows have offsets, 0: they have none, as in a new model
 */
BDL_API bdl_status bdl_model_set_offsets(bdl_model* model, int32_t given);

/** Returns the number of offsets of a row: columns of x behind the inputs; 0 for NULL. Since 0.4. */
BDL_API int64_t bdl_model_offset_count(const bdl_model* model);

/** Returns the bdl_dtype of a model; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_model_dtype(const bdl_model* model);

/** Returns the bdl_likelihood of a model; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_model_likelihood(const bdl_model* model);

/**
 * Returns the bdl_activation of a network, or BDL_IDENTITY if it has none; 0 if its layers have different
 * ones, for custom models and for NULL. Since 0.1.
 */
BDL_API int32_t bdl_model_activation(const bdl_model* model);

/** Returns the number of blocks of theta, that is of weight matrices and biases; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_model_block_count(const bdl_model* model);

/**
 * Describes the i-th block of theta. Any out-pointer may be NULL. Since 0.1.
 * @param model  a model
 * @param index  0 to bdl_model_block_count() - 1
 * @param name   receives "layer0.weight", "layer0.bias", ... ("parameters" for custom models), a text that
 *               the model owns
 * @param offset receives the first position within theta
 * @param rows   receives the number of rows of the block (outputs of the layer)
 * @param cols   receives the number of columns (inputs of the layer; 1 for a bias)
 */
BDL_API bdl_status bdl_model_block(const bdl_model* model, int64_t index, const char** name, int64_t* offset,
                                   int64_t* rows, int64_t* cols);

/**
 * Sets which outputs of a categorical model are classes of y. The softmax goes over these outputs only.
 * Other outputs have probability 0, do not enter gradients and curvature, and are not valid labels. So one
 * output layer holds a head for each task of continual learning: set the classes of a task before you train
 * on the task, and before you predict for it. All handles of the model change at once; predictors and other
 * copies keep the classes that they were made with. The classes are saved with the model. A new model has
 * the classes 0 to outputs - 1. Since 0.2.
 * @param model   a model with BDL_CATEGORICAL; others return BDL_ERROR_UNSUPPORTED
 * @param classes 1 x k different class numbers, k >= 2, in any order; bdl_none(): all classes
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_INVALID_ARGUMENT
 */
BDL_API bdl_status bdl_model_set_classes(bdl_model* model, bdl_matrix classes);

/**
 * Returns the number of classes that bdl_model_set_classes() has set, else the number of outputs; 0 unless
 * the model is categorical, and for NULL. Since 0.2.
 */
BDL_API int64_t bdl_model_class_count(const bdl_model* model);

/**
 * Reads the classes of y. Since 0.2.
 * @param model   a model with BDL_CATEGORICAL; others return BDL_ERROR_UNSUPPORTED
 * @param classes receives 1 x bdl_model_class_count(): the class numbers, ascending
 */
BDL_API bdl_status bdl_model_get_classes(const bdl_model* model, bdl_matrix_out classes);

/**
 * Sets the precision (1 / variance) of Gaussian noise, in units of 1 / y^2: one value for all targets, or
 * one for each target. Heteroscedastic noise has this precision where the network's log noise precision is
 * 0. For Student-t noise this precision is 1 / scale^2. Training starts from this value and learns the
 * precision, as one value or one for each target as set here, unless option "learn_noise" is 0. A new model
 * has 1. If the model standardises targets of different scales, the value of a new model is shared by the
 * standardised targets, and one value set here counts for each target in its own unit. Since 0.1.
 * @param model     a model with BDL_GAUSSIAN, BDL_HETEROSCEDASTIC or BDL_STUDENT_T; others return
 *                  BDL_ERROR_UNSUPPORTED
 * @param precision 1 x 1 or 1 x targets, positive
 */
BDL_API bdl_status bdl_model_set_noise_precision(bdl_model* model, bdl_matrix precision);

/**
 * Reads the noise precision in units of 1 / y^2, into 1 x targets, or into 1 x 1 if all targets share it.
 * Returns BDL_ERROR_UNSUPPORTED after bdl_model_set_noise_covariance(); of a learned covariance it reads 1 /
 * R_cc. Since 0.1.
 */
BDL_API bdl_status bdl_model_get_noise_precision(const bdl_model* model, bdl_matrix_out precision);

/**
 * Reads the degrees of freedom of the estimate of Gaussian noise, into 1 x targets. Fits of generalised linear
 * models by the methods exact-* that learn the noise count them: the number of targets less the effective
 * number of parameters, as n - p of linear regression with a flat prior; if the prior is learned too, at
 * least that number, since its precision tells the same scale. By them predictions where q(f | x) is
 * Gaussian (BDL_LINEARIZED, BDL_QUADRATURE) have Student's t distribution, in quantiles, intervals and log
 * densities, with the usual scale; so has (theta_j - mu_j) / sqrt(Sigma_jj) for a parameter of that output.
 * They are infinite where the noise is known, or learned otherwise. Source: Gelman et al. 2013, Bayesian Data
 * Analysis, section 14.2, with the effective degrees of freedom of MacKay 1992. Since 0.4.
 */
BDL_API bdl_status bdl_model_noise_degrees_of_freedom(const bdl_model* model, bdl_matrix_out degrees);

/**
 * Sets the degrees of freedom of Student-t noise. Few degrees allow for many outliers; many degrees are
 * Gaussian noise. Training starts from this value and learns the number, between 1 and 1000, unless option
 * "learn_degrees_of_freedom" is 0. A new model has 4. With 2 or fewer the noise has no variance, and
 * bdl_predict() gives none. Since 0.1.
 * @param model              a model with BDL_STUDENT_T; others return BDL_ERROR_UNSUPPORTED
 * @param degrees_of_freedom 0.1 to 1e6
 */
BDL_API bdl_status bdl_model_set_degrees_of_freedom(bdl_model* model, double degrees_of_freedom);

/**
 * Reads the degrees of freedom of Student-t noise. Since 0.1.
 * @param model              a model with BDL_STUDENT_T; others return BDL_ERROR_UNSUPPORTED
 * @param degrees_of_freedom receives the number
 */
BDL_API bdl_status bdl_model_get_degrees_of_freedom(const bdl_model* model, double* degrees_of_freedom);

/**
 * Sets the shape of BDL_NEGATIVE_BINOMIAL, where y has the variance mu + mu^2 / shape (theta of R's
 * MASS::glm.nb), or of BDL_GAMMA, where it has mu^2 / shape (1 / dispersion of R's glm). Training starts
 * from it and learns it, unless option "learn_shape" is 0; if it is not set, training starts from the
 * moments of y. Other likelihoods return BDL_ERROR_UNSUPPORTED. Since 0.4.
 *
 * @param shape 1e-6 to 1e6
 */
BDL_API bdl_status bdl_model_set_shape(bdl_model* model, double shape);

/**
 * Returns the present shape of BDL_NEGATIVE_BINOMIAL or BDL_GAMMA: 1 in a new model, then set or learned.
 * Since 0.4.
 *
 * @param shape receives the number
 */
BDL_API bdl_status bdl_model_get_shape(const bdl_model* model, double* shape);

/**
 * Sets the number of levels of BDL_ORDINAL, 2 in a new model, and forgets its cut points and the names of
 * its levels if the number changes. Other likelihoods return BDL_ERROR_UNSUPPORTED. Since 0.4.
 *
 * @param levels 2 to 1000
 */
BDL_API bdl_status bdl_model_set_levels(bdl_model* model, int64_t levels);

/** Returns the number of levels of BDL_ORDINAL; 0 for other likelihoods and NULL. Since 0.4. */
BDL_API int64_t bdl_model_level_count(const bdl_model* model);

/**
 * Sets the cut points c of BDL_ORDINAL, P(y <= k) = 1 / (1 + exp(f - c_k)), and with them the number of
 * levels (McCullagh 1980). Training starts from them, or else from the shares of the levels, and learns
 * them, unless option "learn_shape" is 0. If the model has biases it keeps the mean of the cut points, as
 * that is the place of the intercept. Exact fits with a full covariance then integrate them out: standard
 * deviations are those of maximum likelihood. Other likelihoods return BDL_ERROR_UNSUPPORTED. Since 0.4.
 * @param cut_points 1 x (levels - 1), ascending
 */
BDL_API bdl_status bdl_model_set_cut_points(bdl_model* model, bdl_matrix cut_points);

/**
 * Returns the present cut points of BDL_ORDINAL. Since 0.4.
 *
 * @param cut_points receives 1 x (levels - 1)
 */
BDL_API bdl_status bdl_model_get_cut_points(const bdl_model* model, bdl_matrix_out cut_points);

/**
 * Gives Gaussian noise a full covariance R, with correlations between the outputs: y ~ N(f, R). Densities,
 * gradients, curvature, predictions and draws follow R. Training never changes R, whatever option
 * "learn_noise" is; bdl_model_set_noise_precision() removes it. Since 0.1. Without a noise that is set, the
 * method exact-full learns R (since 0.4) if the data suffice: N is larger than the number of parameters of an
 * output by 2 C or more, C is at most 32, the prior is not learned, and no output is a combination of others.
 * @param model      a model with BDL_GAUSSIAN; others return BDL_ERROR_UNSUPPORTED
 * @param covariance C x C in units of y^2, symmetric to rounding and positive definite
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_INVALID_ARGUMENT
 *         (not symmetric, not positive definite)
 */
BDL_API bdl_status bdl_model_set_noise_covariance(bdl_model* model, bdl_matrix covariance);

/**
 * Reads the covariance of Gaussian noise, which is diagonal unless bdl_model_set_noise_covariance() has set
 * it or exact-full has learned it. Since 0.1.
 * @param model      a model with BDL_GAUSSIAN; others return BDL_ERROR_UNSUPPORTED
 * @param covariance receives C x C
 */
BDL_API bdl_status bdl_model_get_noise_covariance(const bdl_model* model, bdl_matrix_out covariance);

/**
 * Standardises inside the model. The network receives (x - input_mean) / input_scale and gives (f -
 * target_mean) / target_scale. So x and y, and all results (outputs f, Jacobians, noise, densities,
 * predictions), are in your units, and no standardised copy of the data is needed. Log noise precisions are
 * not standardised. The numbers are saved with the model. Set them before training: a posterior belongs to
 * the standardisation that it was trained with. Noise that you have set keeps its value in the units of y.
 * Since 0.1.
 *
 * The numbers of inputs are 1 x inputs, 1 x 1 (the same for all inputs) or, if the input of the network is
 * an image, 1 x channels (the same for all pixels of a channel). For example, bytes (BDL_U8) become numbers
 * from 0 to 1:
 *
 *     const double largest = 255;
 *     bdl_model_set_standardization(model, bdl_none(), bdl_f64(&largest, 1, 1), bdl_none(), bdl_none());
 *
 * @param model        a network; custom models return BDL_ERROR_UNSUPPORTED
 * @param input_mean   1 x inputs, 1 x channels or 1 x 1; bdl_none(): 0
 * @param input_scale  the same shapes, 1e-100 to 1e100; bdl_none(): 1
 * @param target_mean  1 x targets, for the likelihoods of real numbers only; bdl_none(): 0
 * @param target_scale 1 x targets, 1e-100 to 1e100, for the same likelihoods; bdl_none(): 1
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_INVALID_ARGUMENT,
 *         BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_set_standardization(bdl_model* model, bdl_matrix input_mean,
                                                 bdl_matrix input_scale, bdl_matrix target_mean,
                                                 bdl_matrix target_scale);

/**
 * Standardises as bdl_model_set_standardization() does, with the means and standard deviations (divided by
 * n) of the columns of the data. Since 0.1. Exceptions:
 *
 * - Inputs that are constant to rounding have scale 1.
 * - Two or more targets that all are equal to c have a scale of 2^-27 |c| (2^-40 for c = 0), so that
 *   predictions are c with almost no noise. If a stream or a later fit meets other values, their root mean
 *   square deviation from c becomes the scale (read it with bdl_model_get_standardization()), and learned
 *   noise is rescaled with it.
 * - If the input of the network is an image of more than one pixel, each channel has one mean and one
 *   scale, those of all its pixels.
 * - Targets of BDL_STUDENT_T have their median, and as scale 1.4826 times their median absolute deviation
 *   if that is not 0, both of at most 100,000 rows, evenly spaced.
 * - Missing targets (NaN) do not count. A column without any number has mean 0 and scale 1.
 *
 * @param model a network
 * @param x     n x inputs
 * @param y     n x targets; only the likelihoods of real numbers use them. bdl_none(): mean 0 and scale 1
 *              for the targets
 */
BDL_API bdl_status bdl_model_standardize(bdl_model* model, bdl_matrix x, bdl_matrix y);

/**
 * Reads the standardisation: means 0 and scales 1 if none was set. Any output may be bdl_none_out(). Since
 * 0.1.
 * @param model        a model
 * @param input_mean   receives 1 x inputs, also if pixels share it
 * @param input_scale  receives 1 x inputs
 * @param target_mean  receives 1 x C, or 1 x targets for BDL_HETEROSCEDASTIC
 * @param target_scale receives the same shape
 */
BDL_API bdl_status bdl_model_get_standardization(const bdl_model* model, bdl_matrix_out input_mean,
                                                 bdl_matrix_out input_scale, bdl_matrix_out target_mean,
                                                 bdl_matrix_out target_scale);

/**
 * Draws initial parameters of a network. An optimizer does this automatically for an uninitialised
 * posterior. Custom models return BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param model      a network
 * @param scheme     distribution of the weights
 * @param seed       equal seeds give equal parameters
 * @param parameters receives theta, 1 x D
 */
BDL_API bdl_status bdl_model_initialize(const bdl_model* model, bdl_initialization scheme, uint64_t seed,
                                        bdl_matrix_out parameters);

/**
 * Computes the outputs f(x; theta). This function and the following ones return BDL_ERROR_UNSUPPORTED for
 * networks with batch norm, because running statistics belong to a posterior. Since 0.1.
 * @param model      a model
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param outputs    receives n x C
 */
BDL_API bdl_status bdl_model_evaluate(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                      bdl_matrix_out outputs);

/**
 * Converts parameters of a generalised linear model (one dense layer) to coefficients in the caller's units
 * of x and f: for each output the intercept, if the model has one, then the slopes. With a base class, of
 * BDL_CATEGORICAL, the coefficients are contrasts: those of every other class less those of the base class,
 * as multinomial logit models are usually written. The probabilities know only the contrasts; the common
 * level of all classes' coefficients is that of the prior. Other models return BDL_ERROR_UNSUPPORTED.
 * Since 0.4.
 * @param model        a generalised linear model; its parameters are those of standardised data
 * @param base_class   number of the base class, or -1 for none
 * @param parameters   n x D, such as draws of a posterior
 * @param coefficients receives n x K, K = bdl_model_coefficient_count(model, base_class)
 */
BDL_API bdl_status bdl_model_coefficients(const bdl_model* model, int64_t base_class, bdl_matrix parameters,
                                          bdl_matrix_out coefficients);

/**
 * Returns the number of coefficients of a generalised linear model: D, or with a base class D (C - 1) / C; 0
 * for NULL, for other models, and for a base class that the model does not have. Since 0.4.
 */
BDL_API int64_t bdl_model_coefficient_count(const bdl_model* model, int64_t base_class);

/**
 * Computes log p(y_i | x_i, theta) of each example, with all constants. Since 0.1.
 * @param model          a model
 * @param parameters     theta, 1 x D
 * @param x              n x inputs
 * @param y              n x targets
 * @param log_likelihood receives n x 1, in nats
 */
BDL_API bdl_status bdl_model_log_likelihood(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                            bdl_matrix y, bdl_matrix_out log_likelihood);

/**
 * Computes gradient rows of -log p(y_i | x_i, theta) with respect to theta, one row for each example.
 * Training never forms these rows; the function is for your own algorithms and checks. Since 0.1.
 * @param model      a model
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param y          n x targets
 * @param rows       receives n x D
 */
BDL_API bdl_status bdl_model_gradient_rows(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                           bdl_matrix y, bdl_matrix_out rows);

/**
 * Computes the exact Jacobian of the outputs f with respect to theta: by back-propagation, and for user
 * models from their gradients callback (BDL_ERROR_UNSUPPORTED without one). Since 0.1.
 * @param model      a model
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param jacobian   receives (n C) x D; row i C + c is d f_c(x_i; theta) / d theta
 * @return BDL_OK, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_UNSUPPORTED, BDL_ERROR_CALLBACK,
 *         BDL_ERROR_DIVERGED (outputs or derivatives overflow), BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_jacobian(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                      bdl_matrix_out jacobian);

/**
 * Computes H v for the Hessian H of -sum_i log p(y_i | x_i, theta) with respect to theta. The product is
 * exact, does not form H, and takes a few times as long as a gradient for each vector (Pearlmutter 1994,
 * Fast exact multiplication by the Hessian). At a kink of an activation the second derivative counts as 0.
 * Custom models, convolutions, pooling and crops return BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param model      a network
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param y          n x targets
 * @param vectors    k x D, one v a row
 * @param products   receives k x D, the products in the same order
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_LABEL,
 *         BDL_ERROR_DIVERGED, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_hessian_vector_product(const bdl_model* model, bdl_matrix parameters,
                                                    bdl_matrix x, bdl_matrix y, bdl_matrix vectors,
                                                    bdl_matrix_out products);

/**
 * Computes the Hessian of bdl_model_hessian_vector_product() itself, for small D. It is exactly symmetric,
 * but for networks with hidden units it may not be positive semi-definite. The same models return
 * BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param model      a network
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param y          n x targets
 * @param hessian    receives D x D
 * @return as bdl_model_hessian_vector_product()
 */
BDL_API bdl_status bdl_model_hessian(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                     bdl_matrix y, bdl_matrix_out hessian);

#ifdef __cplusplus
}
#endif

#endif
