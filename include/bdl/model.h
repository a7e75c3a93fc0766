/**
 * @file model.h
 * Models: a network (or a user model, a function of the caller's) with a likelihood.
 *
 * Parameters form one vector theta of D = bdl_model_parameters() values: layer by layer the weight
 * matrix (outputs x inputs, row-major) and then the bias (outputs values). bdl_model_block() lists it.
 */
#ifndef BDL_MODEL_H
#define BDL_MODEL_H

#include <stddef.h>

#include "bdl/matrix.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bdl_model bdl_model;

/** Activation after every layer but the last, which is linear. */
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

/** p(y | f), f the network's outputs. C is their number. */
typedef enum bdl_likelihood {
  BDL_GAUSSIAN = 1,    /**< y: C real columns, y ~ N(f, 1 / noise precision), or N(f, noise covariance) */
  BDL_BERNOULLI = 2,   /**< y: C columns of 0 or 1, f are logits */
  BDL_CATEGORICAL = 3, /**< y: one column of class numbers 0 .. C-1, f are logits */
  BDL_POISSON = 4,     /**< y: C columns of counts 0, 1, 2, ..., f are log rates */
  /** y: T = C / 2 real columns, y_t ~ N(f_t, 1 / (noise precision * exp(f_{T + t}))): the outputs are T
   * means, then T log noise precisions. fit counts the latter as 0 before option "heteroscedastic_from". */
  BDL_HETEROSCEDASTIC = 5,
  /** y: C real columns, y ~ f + t / sqrt(noise precision), t with so many degrees of freedom. */
  BDL_STUDENT_T = 6,
  BDL_LIKELIHOOD_FORCE_INT32 = 0x7fffffff
} bdl_likelihood;

/** Distributions of initial weights; biases are 0 except for BDL_INIT_UNIFORM_FAN_IN. */
typedef enum bdl_initialization {
  BDL_INIT_UNIFORM_FAN_IN = 1, /**< weights and biases U(+-1/sqrt(inputs)) (as SLANG's published runs) */
  BDL_INIT_XAVIER = 2,         /**< U(+-sqrt(6 / (inputs + outputs))) (Glorot and Bengio 2010) */
  BDL_INIT_HE = 3,             /**< N(0, 2 / inputs) (He et al. 2015) */
  BDL_INIT_HE_FAN_OUT = 4, /**< N(0, 2 / outputs) of convolutions, as published ResNets; dense: the first */
  BDL_INIT_XAVIER_NORMAL = 5, /**< N(0, 2 / (inputs + outputs)) (Glorot and Bengio 2010) */
  BDL_INITIALIZATION_FORCE_INT32 = 0x7fffffff
} bdl_initialization;

/**
 * Multilayer perceptron. Since 0.1.
 * @param dtype      arithmetic of the model: BDL_F32 or BDL_F64
 * @param sizes      layer widths: inputs, hidden widths ..., outputs; each >= 1. Two entries give a
 *                   generalised linear model
 * @param size_count number of entries of sizes, >= 2
 * @param activation after every layer but the last
 * @param bias       1: every layer has a bias, 0: none has
 * @param likelihood BDL_CATEGORICAL needs at least 2 outputs, BDL_HETEROSCEDASTIC two per target
 * @param model      receives the new handle; free with bdl_model_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_create_mlp(bdl_dtype dtype, const int64_t* sizes, int32_t size_count,
                                        bdl_activation activation, int32_t bias, bdl_likelihood likelihood,
                                        bdl_model** model);

/**
 * Network of layers in sequence, given as text: one layer a line, ';' ends a line as well, '#' begins a
 * comment. Since 0.1.
 *
 *     input 13                features; or channels, rows, columns (in this order): input 3 32 32
 *     dense OUTPUTS [nobias]  of an image as well: of all its numbers
 *     conv FILTERS KERNEL [stride s] [pad p] [groups g] [nobias]
 *                             cross-correlation with square kernels; s is 1 and p, zeros at each side, 0 if not
 *                             given. With groups, each part of the channels has its part of the filters
 *     maxpool K [stride s] [pad p], avgpool K [stride s] [pad p]
 *                             of K x K pixels; s is K if not given. avgpool counts the padding as zeros
 *     globalavgpool           the mean of each channel
 *     crop ROWS [COLUMNS]     the middle of each channel, square if COLUMNS is not given
 *     flatten                 an image as features: channel by channel, row by row
 *     relu                    or any other word of bdl_activation: identity, leaky_relu, elu, gelu, tanh,
 *                             sigmoid, softplus, swish
 *     dropout RATE            in training, each number is 0 with probability RATE in [0, 1) and divided by
 *                             1 - RATE else, independently for each example and sample (Srivastava et al. 2014)
 *     batchnorm [momentum 0.1] [eps 1e-5] [noaffine]
 *                             each channel (feature) minus its mean, over its standard deviation, times a
 *                             scale, plus a shift (Ioffe, Szegedy 2015). Mean and variance are the
 *                             minibatch's own in training, and running ones in predictions, which belong to
 *                             the posterior; scale and shift are point parameters (posterior.h)
 *     residual ... end        the sum of a sequence of layers and its input
 *     residual ... shortcut ... end
 *                             the sum of two sequences of layers. Residuals may stand within one another
 *
 * bdl_model_create_mlp() is a shorthand: it gives the same network as its description. Parameters lie in the
 * order of the lines, weights before bias. At most 4096 lines (empty ones count, and so does
 * each ';'), 10^6 characters, 16 residuals within one another, 2^31 - 1 parameters, and layers that hold 2^28
 * numbers an example in all.
 * @param dtype       arithmetic of the model: BDL_F32 or BDL_F64
 * @param description the text; its last layer gives the outputs
 * @param likelihood  BDL_CATEGORICAL needs at least 2 outputs, BDL_HETEROSCEDASTIC two per target
 * @param model       receives the new handle; free with bdl_model_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT naming the line, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_create_network(bdl_dtype dtype, const char* description,
                                            bdl_likelihood likelihood, bdl_model** model);

/** Number of networks known by name. Since 0.2. */
BDL_API int64_t bdl_network_count(void);

/**
 * Describes the i-th of the networks known by name, which are published ones. Any out-pointer may be NULL; strings
 * are static. Since 0.2.
 * @param index    0 to bdl_network_count() - 1
 * @param name     receives the name: "lenet5", "alexnet", "resnet18", "resnet18-cifar"
 * @param channels receives the channels of the images that it was published for
 * @param rows     receives their rows
 * @param columns  receives their columns
 * @param outputs  receives the number of classes that it was published for
 * @param doc      receives a sentence
 * @param source   receives the papers
 */
BDL_API bdl_status bdl_network_describe(int64_t index, const char** name, int64_t* channels, int64_t* rows,
                                        int64_t* columns, int64_t* outputs, const char** doc,
                                        const char** source);

/**
 * Returns a network known by name as a text for bdl_model_create_network(), which you may edit. Images may have
 * other sizes than the published ones; whether each layer fits is checked where the model is created. Since 0.2.
 * @param name     as bdl_network_describe() gives it; others: BDL_ERROR_INVALID_ARGUMENT naming the nearest
 * @param channels of the images, >= 1
 * @param rows     of the images, >= 1
 * @param columns  of the images, >= 1
 * @param outputs  of the last layer, one a class, >= 1
 * @param text     receives the text, which the library keeps as long as the process runs: the same one for
 *                 the same arguments
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_network_description(const char* name, int64_t channels, int64_t rows, int64_t columns,
                                           int64_t outputs, const char** text);

/**
 * Describes the model's layers as a text for bdl_model_create_network(), without comments and defaults: two
 * networks with the same text are the same function of their parameters. Since 0.1.
 * @param model       a network; a user's own model: BDL_ERROR_UNSUPPORTED
 * @param description receives the text, owned by the model, which lives as long as it does
 */
BDL_API bdl_status bdl_model_description(const bdl_model* model, const char** description);

/**
 * Callback: network outputs of a user's own model. Arrays have the model's dtype.
 * @param user_data  as in bdl_model_callbacks
 * @param parameters theta, 1 x D
 * @param inputs     M x inputs
 * @param outputs    M x C, to be written
 * @return 0; any other value fails the call in progress with BDL_ERROR_CALLBACK
 */
typedef int32_t (*bdl_outputs_fn)(void* user_data, bdl_matrix parameters, bdl_matrix inputs,
                                  bdl_matrix_out outputs);

/**
 * Callback: per-example gradient rows. Row i of `rows` is
 * sum_c output_gradients(i, c) d f_c(x_i; theta) / d theta, the product of the seed with the Jacobian.
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
 * Callbacks that make up a user model. Later versions append members; those that a caller's struct_size does
 * not reach count as NULL, so programs built with older headers go on working. Since 0.2.
 *
 *     const bdl_model_callbacks callbacks = {.struct_size = sizeof callbacks, .outputs = my_outputs};
 */
typedef struct bdl_model_callbacks {
  /** sizeof(bdl_model_callbacks), as the caller was compiled. */
  size_t struct_size;
  /** Outputs for given parameters and inputs; not NULL. */
  bdl_outputs_fn outputs;
  /** Gradient rows for given parameters, inputs and seeds; NULL: predictions only. */
  bdl_gradients_fn gradients;
  /** Handed to the callbacks. */
  void* user_data;
  /** Called once with user_data, when the last handle that uses the model is freed; may be NULL. */
  void (*destroy)(void* user_data);
} bdl_model_callbacks;

/**
 * Creates a model from callbacks: a simulator, an ODE, a network of another library. Callbacks run on the thread
 * of the call that needs them; they must be safe to run concurrently if the caller runs const calls
 * concurrently. A callback that throws fails the call. Since 0.2.
 * @param dtype      type of every array that the callbacks receive
 * @param inputs     columns of x, >= 1
 * @param outputs    number of outputs C, >= 1
 * @param parameters number of parameters D, >= 1
 * @param likelihood p(y | f)
 * @param callbacks  is copied; the functions and user_data are used until the model is freed. A struct_size
 *                   that is too small for `outputs`, cuts a member in two, or is larger than this version's
 *                   is BDL_ERROR_INVALID_ARGUMENT
 * @param model      receives the new handle. If creation fails, destroy is not called
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_create_user(bdl_dtype dtype, int64_t inputs, int64_t outputs, int64_t parameters,
                                         bdl_likelihood likelihood, const bdl_model_callbacks* callbacks,
                                         bdl_model** model);

/**
 * Makes an independent copy with the same layers, noise and standardisation; later changes to one do not
 * affect the other. A user model shares its callbacks and user_data with its copies; `destroy` is called
 * when the last of them is freed. Since 0.2.
 * @param model a model
 * @param copy  receives the new handle; free with bdl_model_free()
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_copy(const bdl_model* model, bdl_model** copy);

/** Frees the handle. NULL is fine. Since 0.1. */
BDL_API void bdl_model_free(bdl_model* model);

/** Number of parameters D; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_model_parameters(const bdl_model* model);

/** Number of inputs; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_model_inputs(const bdl_model* model);

/** Number of outputs C; 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_model_outputs(const bdl_model* model);

/** Columns of y that the likelihood expects (1 for BDL_CATEGORICAL, C / 2 for BDL_HETEROSCEDASTIC, else C); 0
 * for NULL. Since 0.1. */
BDL_API int64_t bdl_model_targets(const bdl_model* model);

/** Returns the bdl_dtype of a model; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_model_dtype(const bdl_model* model);

/** Returns the bdl_likelihood of a model; 0 for NULL. Since 0.1. */
BDL_API int32_t bdl_model_likelihood(const bdl_model* model);

/** Returns the bdl_activation of a network, BDL_IDENTITY if it has none; 0 if its layers differ,
 * for a user's model and NULL. Since 0.1. */
BDL_API int32_t bdl_model_activation(const bdl_model* model);

/** Number of blocks of theta, weight matrices and biases; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_model_block_count(const bdl_model* model);

/**
 * Describes the i-th block of theta. Any out-pointer may be NULL. Since 0.1.
 * @param model  a model
 * @param index  0 to bdl_model_block_count() - 1
 * @param name   receives "layer0.weight", "layer0.bias", ... ("parameters" for user models), owned by
 *               the model
 * @param offset receives the first position within theta
 * @param rows   receives the number of rows of the block (outputs of the layer)
 * @param cols   receives the number of columns (inputs of the layer; 1 for a bias)
 */
BDL_API bdl_status bdl_model_block(const bdl_model* model, int64_t index, const char** name, int64_t* offset,
                                   int64_t* rows, int64_t* cols);

/**
 * Sets which outputs of a categorical model are classes of y: the softmax goes over them alone. The
 * others have probability 0, do not enter gradients and curvature, and are not valid labels. So one output layer
 * holds a head for each task of continual learning: set a task's classes before you train on it, and before you
 * predict for it. All handles of the model change at once; predictors and other copies keep what they were made
 * with. It is saved with the model. A new model has the classes 0 to outputs - 1. Since 0.2.
 * @param model   a model with BDL_CATEGORICAL; others: BDL_ERROR_UNSUPPORTED
 * @param classes 1 x k different class numbers, k >= 2, in any order; bdl_none(): all
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_INVALID_ARGUMENT
 */
BDL_API bdl_status bdl_model_set_classes(bdl_model* model, bdl_matrix classes);

/** Number of the classes that bdl_model_set_classes() has set, of all outputs otherwise; 0 unless the model is
 * categorical, and for NULL. Since 0.2. */
BDL_API int64_t bdl_model_class_count(const bdl_model* model);

/**
 * Reads the classes of y. Since 0.2.
 * @param model   a model with BDL_CATEGORICAL; others: BDL_ERROR_UNSUPPORTED
 * @param classes receives 1 x bdl_model_class_count(): their numbers, ascending
 */
BDL_API bdl_status bdl_model_get_classes(const bdl_model* model, bdl_matrix_out classes);

/**
 * Sets the precision (1 / variance) of Gaussian noise, in units of 1 / y^2: one value shared by all
 * targets, or one per target. Heteroscedastic noise has this precision where the network's log noise
 * precision is 0; of Student-t noise it is 1 / scale^2. Training learns it from there unless option
 * "learn_noise" is 0, as one value or per output like the value set here. A new model has 1. Where a model
 * standardises targets of different scales, one value is shared by the standardised targets unless you have
 * set it, and one value set here is a value per output. Since 0.1.
 * @param model     a model with BDL_GAUSSIAN, BDL_HETEROSCEDASTIC or BDL_STUDENT_T; others:
 *                  BDL_ERROR_UNSUPPORTED
 * @param precision 1 x 1 or 1 x targets, positive
 */
BDL_API bdl_status bdl_model_set_noise_precision(bdl_model* model, bdl_matrix precision);

/**
 * Reads the noise precision into 1 x targets, or into 1 x 1 if it is shared, in the units of y;
 * BDL_ERROR_UNSUPPORTED after bdl_model_set_noise_covariance(). Since 0.1.
 */
BDL_API bdl_status bdl_model_get_noise_precision(const bdl_model* model, bdl_matrix_out precision);

/**
 * Sets the degrees of freedom of Student-t noise: the fewer, the more outliers; many are Gaussian noise.
 * Training learns them from there, between 1 and 1000, unless option "learn_degrees_of_freedom" is 0. A new
 * model has 4. With 2 or fewer the noise has no variance, and bdl_predict() gives none. Since 0.1.
 * @param model              a model with BDL_STUDENT_T; others: BDL_ERROR_UNSUPPORTED
 * @param degrees_of_freedom 0.1 to 1e6
 */
BDL_API bdl_status bdl_model_set_degrees_of_freedom(bdl_model* model, double degrees_of_freedom);

/**
 * Reads the degrees of freedom of Student-t noise. Since 0.1.
 * @param model              a model with BDL_STUDENT_T; others: BDL_ERROR_UNSUPPORTED
 * @param degrees_of_freedom receives the number
 */
BDL_API bdl_status bdl_model_get_degrees_of_freedom(const bdl_model* model, double* degrees_of_freedom);

/**
 * Gives Gaussian noise a full covariance R, correlated between the outputs: y ~ N(f, R). Densities,
 * gradients, curvature, predictions and draws follow it. Training never changes it, whatever option
 * "learn_noise" says; bdl_model_set_noise_precision() ends it. Since 0.1.
 * @param model      a model with BDL_GAUSSIAN; others: BDL_ERROR_UNSUPPORTED
 * @param covariance C x C in units of y^2, symmetric to rounding and positive definite
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE,
 *         BDL_ERROR_INVALID_ARGUMENT (not symmetric, not positive definite)
 */
BDL_API bdl_status bdl_model_set_noise_covariance(bdl_model* model, bdl_matrix covariance);

/**
 * Reads the covariance of Gaussian noise, diagonal unless bdl_model_set_noise_covariance() has set
 * it. Since 0.1.
 * @param model      a model with BDL_GAUSSIAN; others: BDL_ERROR_UNSUPPORTED
 * @param covariance receives C x C
 */
BDL_API bdl_status bdl_model_get_noise_covariance(const bdl_model* model, bdl_matrix_out covariance);

/**
 * Standardises inside the model: the network receives (x - input_mean) / input_scale and gives
 * (f - target_mean) / target_scale, so that x and y, and all results that depend on them (outputs f,
 * Jacobians, noise, densities, predictions), are in the caller's units, and no standardised copy of the data
 * is needed (log noise precisions are as they are). It is saved with the model. Set it before training: a
 * posterior belongs to the standardisation that it was trained with. Noise that has been set keeps its value
 * in the units of y. Since 0.1.
 *
 * The inputs' numbers are 1 x inputs; 1 x 1: the same for all; and where the network's input is an image,
 * 1 x channels: the same for all pixels of a channel. Bytes (BDL_U8) become 0 to 1 so:
 *
 *     const double largest = 255;
 *     bdl_model_set_standardization(model, bdl_none(), bdl_f64(&largest, 1, 1), bdl_none(), bdl_none());
 *
 * @param model        a network; a user's model: BDL_ERROR_UNSUPPORTED
 * @param input_mean   1 x inputs, 1 x channels or 1 x 1; bdl_none(): 0
 * @param input_scale  likewise, 1e-100 to 1e100; bdl_none(): 1
 * @param target_mean  1 x targets, for the likelihoods of real numbers only; bdl_none(): 0
 * @param target_scale 1 x targets, 1e-100 to 1e100, for the same only; bdl_none(): 1
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_INVALID_ARGUMENT,
 *         BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_set_standardization(bdl_model* model, bdl_matrix input_mean,
                                                 bdl_matrix input_scale, bdl_matrix target_mean,
                                                 bdl_matrix target_scale);

/**
 * As bdl_model_set_standardization(), with the means and standard deviations (of the population: divided by n)
 * of the data's columns; inputs that are constant to rounding have scale 1. Two or more targets that are all
 * equal to c have a scale of 2^-27 |c| (2^-40 for 0), so that predictions are c with next to no noise. If a
 * stream or a later fit meets other values, their root mean square deviation from c becomes the scale (read it
 * with bdl_model_get_standardization()), and learned noise is rescaled with it. Where the
 * network's input is an image ("input CHANNELS ROWS COLUMNS", of more than one pixel), each channel has one
 * mean and one scale, those of all its pixels. Targets of BDL_STUDENT_T have their median and 1.4826 times
 * their median absolute deviation, if it is not 0, of at most 100,000 rows, evenly spaced. Missing targets (NaN) do not count: a column of nothing else has
 * mean 0, scale 1. Since 0.1.
 * @param model a network
 * @param x     n x inputs
 * @param y     n x targets; used by the likelihoods of real numbers only. bdl_none(): 0 and 1 for the
 *              targets
 */
BDL_API bdl_status bdl_model_standardize(bdl_model* model, bdl_matrix x, bdl_matrix y);

/**
 * Reads what bdl_model_set_standardization() has set, 0 and 1 otherwise; any may be bdl_none_out(). Since
 * 0.1.
 * @param model        a model
 * @param input_mean   receives 1 x inputs, also where pixels share it
 * @param input_scale  receives 1 x inputs
 * @param target_mean  receives 1 x C, 1 x targets for BDL_HETEROSCEDASTIC
 * @param target_scale receives the same shape
 */
BDL_API bdl_status bdl_model_get_standardization(const bdl_model* model, bdl_matrix_out input_mean,
                                                 bdl_matrix_out input_scale, bdl_matrix_out target_mean,
                                                 bdl_matrix_out target_scale);

/**
 * Draws initial parameters of a network. An optimizer does this automatically for a posterior that has
 * not been set. User models: BDL_ERROR_UNSUPPORTED. Since 0.1.
 * @param model      a network
 * @param scheme     distribution of the weights
 * @param seed       same seed, same parameters
 * @param parameters receives theta, 1 x D
 */
BDL_API bdl_status bdl_model_initialize(const bdl_model* model, bdl_initialization scheme, uint64_t seed,
                                        bdl_matrix_out parameters);

/**
 * Computes outputs f(x; theta). Here and below, BDL_ERROR_UNSUPPORTED for networks with batch norm: their running
 * statistics belong to a posterior. Since 0.1.
 * @param model      a model
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param outputs    receives n x C
 */
BDL_API bdl_status bdl_model_evaluate(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                      bdl_matrix_out outputs);

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
 * Computes gradient rows of -log p(y_i | x_i, theta) with respect to theta, one row per example. Training
 * never forms them; they are for the caller's own algorithms and checks. Since 0.1.
 * @param model      a model
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param y          n x targets
 * @param rows       receives n x D
 */
BDL_API bdl_status bdl_model_gradient_rows(const bdl_model* model, bdl_matrix parameters, bdl_matrix x,
                                           bdl_matrix y, bdl_matrix_out rows);

/**
 * Computes the exact Jacobian of the outputs f with respect to theta: by back-propagation, for user models from
 * their gradients callback (BDL_ERROR_UNSUPPORTED without one). Since 0.1.
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
 * Computes H v for the Hessian H of -sum_i log p(y_i | x_i, theta) with respect to theta: exact, without
 * forming H, at a few times the cost of a gradient per vector (Pearlmutter 1994, Fast exact
 * multiplication by the Hessian). Where the slope of an activation jumps, the second derivative
 * counts as 0. BDL_ERROR_UNSUPPORTED: user models, convolutions, pooling, crops. Since 0.1.
 * @param model      a network
 * @param parameters theta, 1 x D
 * @param x          n x inputs
 * @param y          n x targets
 * @param vectors    k x D, one v per row
 * @param products   receives k x D, the products in the same order
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED, BDL_ERROR_SHAPE, BDL_ERROR_NOT_FINITE, BDL_ERROR_LABEL,
 *         BDL_ERROR_DIVERGED, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_model_hessian_vector_product(const bdl_model* model, bdl_matrix parameters,
                                                    bdl_matrix x, bdl_matrix y, bdl_matrix vectors,
                                                    bdl_matrix_out products);

/**
 * Computes that Hessian itself, for small D: it is exactly symmetric, but for networks with hidden
 * units perhaps not positive semi-definite. BDL_ERROR_UNSUPPORTED as for the product. Since 0.1.
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
