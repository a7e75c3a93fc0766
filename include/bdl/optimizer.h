/**
 * @file optimizer.h
 * Optimizers, which learn a posterior. A method is a named row of a table: a rule and a curvature estimate
 * with their defaults. Everything else is a named option.
 *
 * bdl_method_name() lists the methods and bdl_method_describe() describes each; the reference of methods
 * (docs/reference/methods) has a page for each, and the reference of options lists the options by topic. In
 * short: "slang" and "slang-ggn" learn low-rank, diagonal and full Gaussians by minibatches (Mishkin et al.
 * 2018), "laplace" is fast, "exact-full" finds the best Gaussian of a generalised linear model, and
 * "lo-fi", "vd-ekf", "ekf" and "bong" are for streams (online.h).
 */
#ifndef BDL_OPTIMIZER_H
#define BDL_OPTIMIZER_H

#include "bdl/matrix.h"
#include "bdl/model.h"
#include "bdl/posterior.h"
#include "bdl/predict.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A method with its options, and its state: step, momentum, prior, scales. */
typedef struct bdl_optimizer bdl_optimizer;

/** Types of options. */
typedef enum bdl_option_type {
  BDL_OPTION_DOUBLE = 1,
  BDL_OPTION_INT = 2,    /**< int64_t; switches are 0 or 1 */
  BDL_OPTION_CHOICE = 3, /**< one of a list of words */
  BDL_OPTION_TYPE_FORCE_INT32 = 0x7fffffff
} bdl_option_type;

/** Returns the number of methods. Since 0.2. */
BDL_API int64_t bdl_method_count(void);

/**
 * Returns the name of the i-th method, a static string; NULL beyond the last. Since 0.1.
 * @param index 0 to bdl_method_count() - 1
 */
BDL_API const char* bdl_method_name(int64_t index);

/**
 * Describes a method. Any out-pointer may be NULL; strings are static. Since 0.2.
 * @param name       name of a method; others return BDL_ERROR_INVALID_ARGUMENT
 * @param families   receives the families of posteriors that the method learns, as
 *                   "low_rank | diagonal | full" ("diagonal" is a low-rank posterior of rank 0);
 *                   bdl_training_suggest() returns the default for a model
 * @param is_stream  receives 1 if the method is for bdl_optimizer_observe(): one row after the other, each
 *                   once
 * @param is_exact   receives 1 if bdl_optimizer_fit() takes the whole data set, counts each iteration over
 *                   it as an epoch, and ends at the optimum (option "tolerance"); such methods take no
 *                   single steps. The noise is fixed, or with option "learn_noise" = 1 its precision is
 *                   part of the optimum
 * @param prediction receives the method of prediction that suits networks trained by this method:
 *                   BDL_MONTE_CARLO; BDL_PLUG_IN for "map" and "sgd", whose posterior is a point;
 *                   BDL_LINEARIZED for "laplace", the methods for streams and others whose Gaussians are
 *                   those of the linearised model (Immer et al. 2021)
 * @param doc        receives a sentence
 * @param source     receives the papers
 */
BDL_API bdl_status bdl_method_describe(const char* name, const char** families, int32_t* is_stream,
                                       int32_t* is_exact, bdl_predict_method* prediction, const char** doc,
                                       const char** source);

/**
 * Reads whether a method is a baseline of its paper, for comparisons. By its defaults a baseline does not
 * pass the bar of the scorecard (experiments/results/scorecard.md). Any out-pointer may be NULL; strings are
 * static. Since 0.3.
 * @param name        name of a method; others return BDL_ERROR_INVALID_ARGUMENT
 * @param is_baseline receives 1 for a baseline
 * @param caution     receives a sentence that the packages of Python, R and Julia show before the first fit
 *                    by a baseline: what the method is for, and a condition of the bar that it missed; ""
 *                    for other methods
 */
BDL_API bdl_status bdl_method_standing(const char* name, int32_t* is_baseline, const char** caution);

/**
 * Suggests the method of prediction for a model that a method has trained. It is that of
 * bdl_method_describe(), with exceptions. Networks that predict numbers have BDL_LINEARIZED after methods
 * whose fits learn scales by the evidence, such as "slang" and "vogn": it takes the refined posterior.
 * Generalised linear models have BDL_LINEARIZED with Gaussian noise and BDL_QUADRATURE with one output and
 * another likelihood, which are both exact, and BDL_MONTE_CARLO in place of BDL_LINEARIZED otherwise.
 * Since 0.2.
 * @param name       name of a method
 * @param model      the model
 * @param prediction receives the method of prediction
 */
BDL_API bdl_status bdl_method_prediction(const char* name, const bdl_model* model,
                                         bdl_predict_method* prediction);

/**
 * Suggests a method. Since 0.1.
 * @param model     the network; for generalised linear models "exact-full" is better
 * @param posterior the posterior to learn
 * @param is_stream 0: "slang" for networks (its curvature costs one row for each example, however many
 *                  outputs there are), "slang-ggn" for counts, for numbers predicted from images and for
 *                  linear models, "mc-dropout" for dropout posteriors. 1: "lo-fi" (low rank), "vd-ekf"
 *                  (rank 0), "ekf" (full) or "bong" (moment parameters); BDL_ERROR_UNSUPPORTED for dropout
 *                  posteriors
 * @param name      receives the name of the method, static
 */
BDL_API bdl_status bdl_method_suggest(const bdl_model* model, const bdl_posterior* posterior,
                                      int32_t is_stream, const char** name);

/**
 * Suggests how to train a model if you name the method, the family of posteriors, both or neither. These
 * are the defaults of the estimators in Python, R and Julia. Any out-pointer may be NULL; strings are
 * static. Since 0.2.
 *
 * - Networks get a low-rank posterior of rank 5, and the method of bdl_method_suggest().
 * - Generalised linear models whose likelihood is not heteroscedastic or Student's t get "exact-full" for up
 *   to 1000 parameters and up to 2^25 numbers in x. With one output and fewer examples than parameters, up to
 *   1000, they get "exact-low-rank" of as many columns, which is as exact. Models of more than four classes
 *   do so only with at least 10 examples for each parameter.
 * - Other linear models get "slang-exact-hess" with one output, else "slang-ggn", and a full posterior for
 *   up to 200 parameters or rank 10 for more.
 *
 * A method that you name gets a family that it learns.
 * @param model            a network
 * @param examples         rows of the data
 * @param in_blocks        1: the data come block by block, for bdl_optimizer_observe() by methods for
 *                         streams or bdl_optimizer_step() by others; 0: for bdl_optimizer_fit()
 * @param method           name of a method, or "auto"
 * @param family           one of the words of bdl_method_describe(), or "auto"
 * @param suggested_method receives `method`, or the suggested one
 * @param suggested_family receives `family`, or the suggested one
 * @param rank             receives a rank that suits a low-rank posterior; 0 for other families
 * @param options          receives options to set by bdl_optimizer_set_text() before your own. Networks
 *                         with convolutions get other initial values, other networks "". Linear models get
 *                         a fixed prior N(0, 1) of the (standardised) coefficients and an almost flat one
 *                         of intercepts, and learn their noise; with no more examples than coefficients
 *                         of an output, methods "exact-*" learn their prior
 */
BDL_API bdl_status bdl_training_suggest(const bdl_model* model, int64_t examples, int32_t in_blocks,
                                        const char* method, const char* family, const char** suggested_method,
                                        const char** suggested_family, int64_t* rank, const char** options);

/**
 * Suggests the noise of a regression, the default of the estimators. It is BDL_HETEROSCEDASTIC if fits of
 * this optimizer learn scales by the evidence (option "scales"), which keeps the noise equal everywhere
 * unless the data contradict. Else it is BDL_GAUSSIAN: for streams, linear models, dropout posteriors,
 * layers that depend on the whole minibatch, and options that fix the noise. A heteroscedastic model has
 * twice the outputs, so call this function before you create the model that you train. Since 0.3.
 *
 * BDL_STUDENT_T takes the place of BDL_HETEROSCEDASTIC if a target is more than 1000 robust standard
 * deviations from the median of its column: such a target would hide all others. A robust standard
 * deviation is 1.4826 times the median absolute deviation; columns in which that is 0 do not count.
 * @param optimizer        an optimizer of a Gaussian model with the same hidden layers, with your options
 * @param in_blocks        as for bdl_training_suggest(); 1: Gaussian
 * @param prior_parameters number of parameters of the posterior that is to be the prior, 0 without one.
 *                         With one, this number alone decides: the noise is that of the optimizer's model
 *                         if the model has as many parameters, else heteroscedastic
 * @param y                rows x targets, NaN where a target is missing; bdl_none(): the targets are not
 *                         known, and the noise is not Student-t
 * @param noise            receives the likelihood
 * @param distance         receives the distance of the farthest target from the median, in robust standard
 *                         deviations, if it makes the noise BDL_STUDENT_T, else 0; may be NULL
 */
BDL_API bdl_status bdl_noise_suggest(const bdl_optimizer* optimizer, int32_t in_blocks,
                                     int64_t prior_parameters, bdl_matrix y, bdl_likelihood* noise,
                                     double* distance);

/** Returns the number of presets. Since 0.2. */
BDL_API int64_t bdl_preset_count(void);

/**
 * Returns the name of the i-th preset, a static string; NULL beyond the last. Since 0.2.
 * @param index 0 to bdl_preset_count() - 1
 */
BDL_API const char* bdl_preset_name(int64_t index);

/**
 * Describes a preset: published settings of a method for a network and data. "vogn-resnet18" holds those of
 * VOGN for ResNet-18 on CIFAR-10. Options that depend on the size of the data, such as warm-ups, are for
 * the data that the sentence names. Any out-pointer may be NULL; strings are static. Since 0.2.
 * @param name    name of a preset; others return BDL_ERROR_INVALID_ARGUMENT
 * @param method  receives the method, for bdl_optimizer_create()
 * @param options receives the options, for bdl_optimizer_set_text()
 * @param epochs  receives the published number of passes over the data, for bdl_optimizer_fit()
 * @param doc     receives sentences: the source, network and data, and the differences from the publication
 */
BDL_API bdl_status bdl_preset_describe(const char* name, const char** method, const char** options,
                                       int64_t* epochs, const char** doc);

/** Returns the number of rows of bdl_default_describe(). Since 0.2. */
BDL_API int64_t bdl_default_count(void);

/**
 * Describes a default of the estimators that does not depend on data: "hidden" units, "epochs", "samples"
 * of predictions, "input_rate" and "hidden_rate" of dropout, "seed"; for images "image_epochs" and
 * "image_samples"; and for the leverages that fits keep (bdl_predict_leverage()) "novelty_rows",
 * "novelty_stream_rows" and "novelty_numbers". Any out-pointer may be NULL; strings are static. Since 0.2.
 * @param index 0 to bdl_default_count() - 1
 * @param name  receives the name
 * @param value receives the value
 * @param doc   receives a sentence
 */
BDL_API bdl_status bdl_default_describe(int64_t index, const char** name, double* value, const char** doc);

/**
 * Creates an optimizer of a posterior. It shares the objects of the two handles: training changes the
 * posterior and, if it is learned, the noise precision of the model. A method that does not support the
 * model or the posterior returns BDL_ERROR_UNSUPPORTED here, not only at the first step. If the model has
 * point parameters or running statistics (posterior.h), an uninitialised posterior gets them;
 * BDL_ERROR_SHAPE for the posterior of a network that has others. Since 0.1.
 * @param model     the model to learn; NULL if you only use bdl_optimizer_step_rows()
 * @param posterior a posterior of the model's dtype and number of parameters
 * @param method    name of a method; bdl_method_describe() lists the posteriors that it learns
 * @param data_size N, the number of examples in the whole data set, which weighs the likelihood against the
 *                  prior. It has no effect on streams
 * @param optimizer receives the handle; free it with bdl_optimizer_free()
 */
BDL_API bdl_status bdl_optimizer_create(bdl_model* model, bdl_posterior* posterior, const char* method,
                                        int64_t data_size, bdl_optimizer** optimizer);

/** Frees the handle. NULL is allowed. Since 0.1. */
BDL_API void bdl_optimizer_free(bdl_optimizer* optimizer);

/** Returns the name of the optimizer's method, static; "" for NULL. Since 0.1. */
BDL_API const char* bdl_optimizer_method(const bdl_optimizer* optimizer);

/** Returns N, as given to bdl_optimizer_create(); 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_optimizer_data_size(const bdl_optimizer* optimizer);

/**
 * Sets a real option. For an unknown name, BDL_ERROR_UNKNOWN_OPTION offers the nearest. Since 0.1.
 *
 * After each call, options, method, model and posterior must be a valid combination for the use of the
 * method: bdl_optimizer_fit(), or bdl_optimizer_observe() by methods and rules for streams. Otherwise the
 * call returns BDL_ERROR_UNSUPPORTED, and nothing has changed. To change several options that are only
 * valid together, set them in one call of bdl_optimizer_set_text().
 * @param optimizer an optimizer
 * @param name      name of a real option
 * @param value     a value within the range of the option
 */
BDL_API bdl_status bdl_optimizer_set_double(bdl_optimizer* optimizer, const char* name, double value);

/**
 * Sets an integer option or switch, as bdl_optimizer_set_double() sets a real one. Since 0.1.
 * @param optimizer an optimizer
 * @param name      name of an integer option
 * @param value     a value within the range of the option
 */
BDL_API bdl_status bdl_optimizer_set_int(bdl_optimizer* optimizer, const char* name, int64_t value);

/**
 * Sets a choice, as bdl_optimizer_set_double() sets a real option. Since 0.1.
 * @param optimizer an optimizer
 * @param name      name of a choice
 * @param value     one of its words
 */
BDL_API bdl_status bdl_optimizer_set_choice(bdl_optimizer* optimizer, const char* name, const char* value);

/**
 * Sets options from a text of words name=value between blanks, as "learning_rate=0.1 rule=bbb", with
 * numbers as C writes them. All are set or, on any error, none; the message names the word. Only the final
 * combination must be valid. Since 0.2.
 * @param optimizer an optimizer
 * @param text      the options
 */
BDL_API bdl_status bdl_optimizer_set_text(bdl_optimizer* optimizer, const char* text);

/** Reads a real option. Since 0.1. */
BDL_API bdl_status bdl_optimizer_get_double(const bdl_optimizer* optimizer, const char* name, double* value);

/** Reads an integer option. Since 0.1. */
BDL_API bdl_status bdl_optimizer_get_int(const bdl_optimizer* optimizer, const char* name, int64_t* value);

/** Reads a choice as a static string. Since 0.1. */
BDL_API bdl_status bdl_optimizer_get_choice(const bdl_optimizer* optimizer, const char* name,
                                            const char** value);

/** Returns the number of options. Since 0.2. */
BDL_API int64_t bdl_option_count(void);

/**
 * Describes the i-th option. Any out-pointer may be NULL; strings are static. Since 0.1.
 * @param index         0 to bdl_option_count() - 1
 * @param name          receives the name
 * @param type          receives the type
 * @param default_value receives the default as text. Methods may have other defaults:
 *                      bdl_optimizer_get_double() and its relatives read those of an optimizer
 * @param range         receives the allowed values as text: "(0, inf)", "0 | 1", "cosine | power"
 * @param doc           receives one or two sentences
 */
BDL_API bdl_status bdl_option_describe(int64_t index, const char** name, bdl_option_type* type,
                                       const char** default_value, const char** range, const char** doc);

/**
 * Returns which methods read the i-th option, as a static text that completes "is read by": "schedule
 * steps", "descents vogn, ivon and kfac". If you change an option that nothing reads, the call returns
 * BDL_ERROR_UNSUPPORTED, unless the value is the method's default. Since 0.3.
 * @param index 0 to bdl_option_count() - 1; "" for others
 */
BDL_API const char* bdl_option_readers(int64_t index);

/**
 * Fixes the prior N(0, diag(precision)^-1) for each parameter and ends the learning of its precision.
 * Options "prior_precision" and "bias_prior_precision" give the precision by groups instead, multiplied by
 * the inputs of each layer if "prior_scaling" is "fan_in"; the values of this function are not multiplied.
 * Since 0.1.
 * @param optimizer an optimizer
 * @param precision 1 x 1 or 1 x D, positive. Point parameters have no prior: their values count as 1
 */
BDL_API bdl_status bdl_optimizer_set_prior(bdl_optimizer* optimizer, bdl_matrix precision);

/**
 * Makes a posterior the prior, with its mean and whole precision, for example one that was learned from
 * earlier data. The prior is then fixed, and "learn_prior" has no effect, until an option that defines the
 * prior is set. An uninitialised posterior starts from the prior's mean. A stream (bdl_optimizer_observe())
 * starts from the whole prior; on a stream that has begun, the prior has no effect. The ELBO, its KL
 * divergence and checkpoints use the prior. Since 0.1.
 *
 * - Full and full-moment posteriors are learned with exactly that prior.
 * - Layerwise-full and diagonal posteriors maximise the ELBO with that prior over their own families.
 * - Low-rank posteriors of any rank take low-rank and diagonal priors; Kronecker-factored ones take
 *   Kronecker-factored priors of the same layers and diagonal ones.
 * - Rules map and bbb take any prior; map with Laplace's approximation takes those of the posterior's
 *   family, as above.
 * - Streams take a prior of the posterior's family and no larger rank, or a diagonal one; full posteriors
 *   take any.
 * - Other combinations, dropout posteriors and modes (bdl_posterior_has_covariance()) return
 *   BDL_ERROR_UNSUPPORTED.
 *
 * @param optimizer an optimizer
 * @param prior     a Gaussian posterior with as many parameters, of any family and dtype; it is copied
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED as above, BDL_ERROR_SHAPE for another number of parameters,
 *         BDL_ERROR_INVALID_ARGUMENT or BDL_ERROR_DIVERGED if the optimizer's dtype cannot hold it
 */
BDL_API bdl_status bdl_optimizer_set_prior_posterior(bdl_optimizer* optimizer, const bdl_posterior* prior);

/**
 * Gives parameters normal priors N(location, scale^2), in the units in which the model is trained: those of
 * standardised data. Parameters whose scale is NaN keep the prior of the options, which is still learned
 * beside the others. The priors stay when options change, until the prior is set in another way. Networks
 * with hidden units start at locations plus random weights. Dropout posteriors return BDL_ERROR_UNSUPPORTED.
 * Since 0.4.
 * @param optimizer an optimizer
 * @param location  1 x 1 or 1 x D, finite
 * @param scale     1 x 1 or 1 x D, standard deviations: positive, infinite for a flat prior, or NaN. Point
 *                  parameters have no prior
 */
BDL_API bdl_status bdl_optimizer_set_prior_normal(bdl_optimizer* optimizer, bdl_matrix location,
                                                  bdl_matrix scale);

/**
 * Gives coefficients of a generalised linear model normal priors N(location, scale^2) in the caller's units
 * of x and f, in the order of bdl_model_coefficients() with base_class -1. Otherwise it is as
 * bdl_optimizer_set_prior_normal(). The priors are of the coefficients, whatever the standardisation: if it
 * changes, before the first fit or in a stream, they are converted anew. Since 0.4.
 *
 * The intercept is the value of f where all inputs are 0. If inputs are shifted (bdl_model_standardize()), its
 * prior joins parameters: Lambda_0 then has a column for each output with such a prior. Posteriors of all
 * families but low-rank-moment, dropout and Kronecker-factored ones, and low-rank ones of a smaller rank on
 * streams, learn with it; these return BDL_ERROR_UNSUPPORTED, and the evidence of Laplace's approximation
 * learns no precisions beside it. An intercept whose scale is NaN keeps the prior of the options, which is
 * that of centred inputs: of f at the means of the inputs, as in rstanarm (Goodrich et al.).
 * @param optimizer an optimizer with a generalised linear model; else BDL_ERROR_UNSUPPORTED
 * @param location  1 x 1 or 1 x K, finite; K = bdl_model_coefficient_count(model, -1)
 * @param scale     1 x 1 or 1 x K: positive, infinite for a flat prior, or NaN
 */
BDL_API bdl_status bdl_optimizer_set_prior_coefficients(bdl_optimizer* optimizer, bdl_matrix location,
                                                        bdl_matrix scale);

/**
 * Reads the prior of each coefficient of a generalised linear model in the caller's units. Coefficients
 * without a prior by bdl_optimizer_set_prior_coefficients() have that of the options, or by
 * bdl_optimizer_set_prior(): slopes that of their standardised weight, and intercepts that of the value at the
 * inputs' means. Since 0.4.
 * @param optimizer an optimizer with a generalised linear model; else BDL_ERROR_UNSUPPORTED, also if the prior
 *                  is a posterior: bdl_posterior_coefficients() converts that
 * @param location  receives 1 x K
 * @param scale     receives 1 x K standard deviations
 */
BDL_API bdl_status bdl_optimizer_get_prior_coefficients(const bdl_optimizer* optimizer,
                                                        bdl_matrix_out location, bdl_matrix_out scale);

/**
 * Reads the current, possibly learned, prior precision of every parameter into 1 x D. If the prior is a
 * posterior, this is the diagonal of its precision. Since 0.1.
 */
BDL_API bdl_status bdl_optimizer_get_prior(const bdl_optimizer* optimizer, bdl_matrix_out precision);

/**
 * Restarts training: the mean is a network initialisation (options "initialization" and "seed"; 0 without a
 * network), U = 0, the precision is option "initial_precision", the step counter, momentum and Adam's
 * averages are 0, and scales are as the options define. fit and step initialise an uninitialised posterior
 * automatically. Since 0.1.
 */
BDL_API bdl_status bdl_optimizer_initialize(bdl_optimizer* optimizer);

/**
 * Takes one step on the caller's minibatch, whole or, on any error, not at all. If training diverges, the
 * call returns BDL_ERROR_DIVERGED, and everything is as in the last good state. The examples are used
 * without augmentation, whatever the options. Since 0.1.
 * @param optimizer an optimizer with a model
 * @param x         M x inputs, 1 <= M <= N
 * @param y         M x targets
 */
BDL_API bdl_status bdl_optimizer_step(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y);

/**
 * Replaces the covariance by that of Laplace's approximation around the present mean, which stays. The
 * precision becomes the generalised Gauss-Newton matrix of all the data plus the prior precision (MacKay
 * 1992; Ritter, Botev, Barber 2018). A full posterior keeps all of this matrix, a layerwise one its blocks,
 * a diagonal one its diagonal, a low-rank one its diagonal and its L largest eigenpairs, and a
 * Kronecker-factored one its factors. The mean should be a mode. Option "laplace" calls this function at
 * the end of every fit, and method "laplace" is "map" with that option. With option "shards" the function
 * adds up shards of the data, which several processes divide among them (bdl_optimizer_set_communicator()).
 * Since 0.1.
 * @param optimizer an optimizer with a model and an initialised posterior that is low-rank (diagonal: rank
 *                  0), full, layerwise-full or Kronecker-factored; else BDL_ERROR_UNSUPPORTED
 * @param x         n x inputs, up to 2^28 rows times outputs: they count as N examples
 * @param y         n x targets
 */
BDL_API bdl_status bdl_optimizer_laplace(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y);

/**
 * Computes the evidence, or log marginal likelihood, of the last Laplace approximation: log p(y | theta) /
 * T + log p(theta) + D / 2 log 2 pi - 1/2 log det (H / T + Lambda_0) at its mean, with the curvature H in
 * the posterior's family and the temperature T of option "kl_weight" (docs/theory/evidence.md). It needs no
 * data, and changes nothing. Any out-pointer may be NULL. Since 0.3.
 *
 * Call bdl_optimizer_laplace(), or fit with option "laplace", first, and again after a change of the mean,
 * of a posterior that is the prior, or of ratios of noise precisions, and after loading a checkpoint; else
 * the call returns BDL_ERROR_UNSUPPORTED.
 * @param optimizer            an optimizer with a model
 * @param prior_precision      bdl_none() for the present prior; 1 x 1, 1 x G for its groups (option
 *                             "prior_groups") or 1 x D
 * @param noise_precision      bdl_none() for the present noise; for Gaussian noise 1 x 1 or 1 x targets,
 *                             with the ratios of the model's
 * @param log_evidence         receives the evidence, in nats
 * @param log_likelihood       receives log p(y | theta)
 * @param effective_parameters receives the number of parameters that the data determine, tr(H / T Sigma)
 */
BDL_API bdl_status bdl_optimizer_evidence(const bdl_optimizer* optimizer, bdl_matrix prior_precision,
                                          bdl_matrix noise_precision, double* log_evidence,
                                          double* log_likelihood, double* effective_parameters);

/**
 * Sets the precisions of the prior's groups, the noise, and the posterior's covariance to those at which
 * the evidence of bdl_optimizer_evidence() is greatest; the mean stays. There is at most one optimum,
 * because the evidence is concave in the logarithms of the precisions. A group that neither the data nor
 * the mean determine keeps its precision. On failure nothing has changed. Since 0.3.
 * @param optimizer    an optimizer with a model. BDL_ERROR_UNSUPPORTED as for bdl_optimizer_evidence(), and
 *                     for "prior" if the prior is fixed, for "noise" unless it is Gaussian
 * @param of           "prior", "noise" (a common factor of its precisions) or "prior noise"
 * @param log_evidence receives the evidence at the optimum; may be NULL
 * @param steps        receives the number of steps of Newton's method; may be NULL
 */
BDL_API bdl_status bdl_optimizer_maximize_evidence(bdl_optimizer* optimizer, const char* of,
                                                   double* log_evidence, int64_t* steps);

/**
 * Computes 1/2 g^T Sigma g nats for the gradient g of the loss at the mean and Laplace's Sigma: the
 * decrease of the loss that a Newton step would bring. Training that has found a mode under this prior has
 * a gap below 1. Since 0.3.
 * @param optimizer an optimizer with a Laplace approximation, as for bdl_optimizer_evidence()
 * @param x         n x inputs, which count as N examples
 * @param y         n x targets
 * @param gap       receives the gap, in nats
 */
BDL_API bdl_status bdl_optimizer_mode_gap(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                          double* gap);

/**
 * Takes one step from the caller's own gradient rows of -log p. M examples under S parameter samples make n
 * = M S rows, and the gradient estimate is N / n times their sum. Scales are not learned from rows. Since
 * 0.1.
 * @param optimizer an optimizer, with or without a model
 * @param rows      n x D
 */
BDL_API bdl_status bdl_optimizer_step_rows(bdl_optimizer* optimizer, bdl_matrix rows);

/**
 * Callback: progress of fit, on the thread of fit, after the steps that option "progress_every" selects. It
 * may read the optimizer, its posterior and its model, and call bdl_optimizer_request_stop(), but change
 * none of them.
 * @param user_data as given to bdl_optimizer_fit()
 * @param optimizer the optimizer, as after the last step
 * @return 0 to go on; positive: fit returns BDL_STOPPED, unless it was the last step; negative: fit returns
 *         BDL_ERROR_CALLBACK. Either way everything is as after the last completed step
 */
typedef int32_t (*bdl_progress_fn)(void* user_data, const bdl_optimizer* optimizer);

/**
 * Trains on minibatches of the data (options "minibatch" and "sampling"). Schedules run over the epochs of
 * this call unless option "total_steps" plans a longer training run. Steps after the plan keep its final
 * rates. Since 0.1.
 *
 * Methods "exact-*" iterate over all data, an epoch each (200 iterations of L-BFGS are one), until they have
 * converged: fewer epochs than you asked for (bdl_optimizer_progress()) mean convergence. After an
 * interruption or a limit of epochs, another fit continues from the posterior to the same optimum, up to
 * rounding.
 *
 * Images ("input CHANNELS ROWS COLUMNS") may be augmented: options "augment_pad" and "augment_flip" shift
 * and mirror each image, differently in each epoch, as a function of seed, epoch and the row of x. N does
 * not change. Everything else that reads the data, such as Laplace's approximation, and all predictions use
 * the original images.
 * @param optimizer an optimizer with a model
 * @param x         n x inputs; n is usually N, and must be for methods "exact-*"
 * @param y         n x targets
 * @param epochs    passes over the data, >= 1. 0 finishes an interrupted fit (of this process or a
 *                  checkpoint) with results identical to those of a fit that was never interrupted, unless
 *                  training diverges: a checkpoint has no earlier good state
 * @param progress  may be NULL
 * @param user_data passed to progress
 * @return BDL_OK, BDL_STOPPED, or an error; a stop or error leaves the state after the last step. Training
 *         that diverges returns to its last good state: with option "guard" it continues with half the
 *         learning rate; without the guard, or after ten times, the call returns BDL_ERROR_DIVERGED
 */
BDL_API bdl_status bdl_optimizer_fit(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, int64_t epochs,
                                     bdl_progress_fn progress, void* user_data);

/**
 * Asks a running fit to return BDL_STOPPED after its current step, or the next fit after its first step.
 * Any thread or signal handler may call this function. Since 0.1.
 */
BDL_API void bdl_optimizer_request_stop(bdl_optimizer* optimizer);

/**
 * Reads the progress of training. Any out-pointer may be NULL. Since 0.1.
 * @param optimizer an optimizer
 * @param step      receives the number of steps taken
 * @param planned   receives the number of steps after which the current plan ends (0: no plan)
 * @param epoch     receives the epochs completed by fit, fractions included
 */
BDL_API bdl_status bdl_optimizer_progress(const bdl_optimizer* optimizer, int64_t* step, int64_t* planned,
                                          double* epoch);

/**
 * Reads training's running estimates of the ELBO's two terms, which cost nothing but are noisy. Since 0.1.
 * @param optimizer               an optimizer that has taken a step with its model
 * @param expected_log_likelihood receives the estimate of E_q[sum over N examples of log p], averaged over
 *                                the last epoch of steps (exponentially)
 * @param kl                      receives the present KL(q || prior). ELBO = expected_log_likelihood - kl
 */
BDL_API bdl_status bdl_optimizer_running_elbo(const bdl_optimizer* optimizer, double* expected_log_likelihood,
                                              double* kl);

/**
 * Computes the ELBO's two terms on given data. Since 0.1.
 * @param optimizer               an optimizer with a model
 * @param x                       n x inputs
 * @param y                       n x targets
 * @param samples                 S >= 1 posterior samples; 0: exact one-dimensional quadrature (generalised
 *                                linear models with one output)
 * @param seed                    seed of the samples
 * @param expected_log_likelihood receives E_q[sum_i log p(y_i | x_i)] times N / n; may be NULL
 * @param kl                      receives KL(q || prior); may be NULL
 */
BDL_API bdl_status bdl_optimizer_elbo(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                      int64_t samples, uint64_t seed, double* expected_log_likelihood,
                                      double* kl);

/**
 * Makes training start with a separate Gaussian or Student-t noise for each target: option
 * "initial_noise_precision" (if it is 0: 100 for networks with hidden units, and 1 for other models and on
 * streams) over the variance of the target. Without this call, bdl_optimizer_fit() and bdl_optimizer_step()
 * start with one noise for all (standardised) targets, and bdl_optimizer_observe() with that of the model.
 * The call does nothing for other likelihoods, if the noise was set, if "learn_noise" is 0 (except on
 * streams), and if a stream has not learned its scales yet. Since 0.2.
 * @param optimizer an optimizer with a model
 * @param y         n x targets; NaN does not count
 */
BDL_API bdl_status bdl_optimizer_start_noise(bdl_optimizer* optimizer, bdl_matrix y);

/**
 * Reads the number of examples in a minibatch of fit, from options "minibatch" and "minibatches". Since
 * 0.2.
 * @param optimizer an optimizer
 * @param examples  receives the number
 */
BDL_API bdl_status bdl_optimizer_minibatch(const bdl_optimizer* optimizer, int64_t* examples);

/**
 * Estimates the bytes of the optimizer's arrays after steps on minibatches of M examples (M rows, without a
 * model), before anything is allocated. The estimate is an upper bound, at most a quarter (and some
 * kilobytes) above the actual size. It counts every array that grows with the problem: copies of the
 * posterior, scratch, moving averages, a posterior as prior. It does not count small objects, which take
 * some kilobytes whatever M is, nor the model and the posterior themselves. For the methods exact-* it is
 * the most that a fit takes in addition, libLBFGS included. Since 0.1.
 * @param optimizer an optimizer
 * @param minibatch M; 0: option "minibatch". The methods exact-* take all rows whatever M is, a part at a
 *                  time: their memory does not grow with N beyond 2^18 numbers or D rows
 * @param bytes     receives the number
 */
BDL_API bdl_status bdl_optimizer_memory(const bdl_optimizer* optimizer, int64_t minibatch, int64_t* bytes);

/**
 * Returns the number of steps that option "guard" has limited; 0 for NULL. On small data the guard usually
 * limits most steps of the first half. Since 0.1.
 */
BDL_API int64_t bdl_optimizer_guarded_steps(const bdl_optimizer* optimizer);

/**
 * Describes how training makes the noise of a low-rank-moment posterior in each layer of the network
 * (option "noise_estimator"), and whether the outputs of an example in that layer have the distribution
 * that samples of the parameters would give. They have it, except for "local" in convolutions of more than
 * one position. Any out-pointer may be NULL. Since 0.2.
 * @param optimizer an optimizer of a low-rank-moment posterior; others return BDL_ERROR_UNSUPPORTED
 * @param is_exact  receives 1 if the noise of every layer is exact, else 0
 * @param text      receives a line for each layer with weights, such as "conv 6 5: weights, exact"; it
 *                  lives as long as the optimizer
 */
BDL_API bdl_status bdl_optimizer_noise(const bdl_optimizer* optimizer, int32_t* is_exact, const char** text);

/**
 * Checks the result of training and suggests what to change. Any out-pointer may be NULL. The first of
 * these that holds gives the message. Since 0.1.
 *
 * - Training diverged and returned to its last good state.
 * - No step was taken.
 * - A fit by a method exact-* has ended more than 1e-4 posterior standard deviations from the optimum. (At
 *   the optimum only the noise is checked further.)
 * - The precision of most parameters is below 1 % of their prior's or more than 1e12 times its start.
 * - The noise is at a bound, or its learning has not begun.
 * - The mean is still the initial one (that at the creation of the optimizer), or the initial precision still
 *   counts for more than half of the present one (rule "bbb": precision_shift is below 0.1).
 * - The expected log likelihood of an example is still 0.15 nats above its average over the steps so far,
 *   in which later steps weigh more.
 *
 * Streams are checked for the first two only, and method "map" is not checked for precisions.
 * @param optimizer       an optimizer
 * @param mean_shift      receives the root mean square of (mu - mu_0) sqrt(diag(Sigma^-1)): shifts in units
 *                        of posterior standard deviations; NaN for dropout. Below 0.1 the mean is still its
 *                        start
 * @param precision_shift receives the root mean square of log(diag(Sigma^-1) / diag(Sigma_0^-1))
 * @param message         receives a static sentence: what is wrong and what to change, or "" if nothing is
 *                        wrong
 */
BDL_API bdl_status bdl_optimizer_diagnose(const bdl_optimizer* optimizer, double* mean_shift,
                                          double* precision_shift, const char** message);

/**
 * Checks whether a network with hidden units predicts the same for every row: at the posterior's mean and,
 * if the predictions of the method average over samples, also on average over 20 of them. Either
 * out-pointer may be NULL. Since 0.3.
 * @param optimizer an optimizer of a model
 * @param x         inputs, for example those of training; of more than 100 rows, 100 evenly spaced ones are
 *                  used
 * @param y         targets
 * @param spread    receives the largest standard deviation over rows of the probability of a class, or of a
 *                  mean in standard deviations of its target (robust ones with Student-t noise); infinity
 *                  for models without hidden units, for fewer than ten rows, and if no target varies
 * @param message   receives a static sentence if the spread is below 0.01: what to change if there is
 *                  something to learn; else ""
 */
BDL_API bdl_status bdl_optimizer_diagnose_answers(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                                  double* spread, const char** message);

#ifdef __cplusplus
}
#endif

#endif
