/**
 * @file optimizer.h
 * Optimizers, which learn a posterior. A method is a named row of a table (rule and curvature
 * estimate with their defaults); everything else is a named option.
 *
 * bdl_method_name() lists the methods, bdl_method_describe() says what each is for, and docs/methods.md is
 * the table of them. In short: "slang" and "slang-ggn" learn low-rank, diagonal and full Gaussians by
 * minibatches (Mishkin et al. 2018), "laplace" is fast, "exact-full" is the best Gaussian of a
 * generalised linear model, and "lo-fi", "vd-ekf", "ekf" and "bong" are
 * for streams (bdl/online.h).
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

typedef struct bdl_optimizer bdl_optimizer;

/** Types of options. */
typedef enum bdl_option_type {
  BDL_OPTION_DOUBLE = 1,
  BDL_OPTION_INT = 2,    /**< int64_t; switches are 0 or 1 */
  BDL_OPTION_CHOICE = 3, /**< one of a list of words */
  BDL_OPTION_TYPE_FORCE_INT32 = 0x7fffffff
} bdl_option_type;

/** Number of methods. Since 0.2. */
BDL_API int64_t bdl_method_count(void);

/** Returns the i-th method's name, i = 0 to bdl_method_count() - 1; NULL beyond. Static. Since 0.1. */
BDL_API const char* bdl_method_name(int64_t index);

/**
 * Describes a method. Any out-pointer may be NULL; strings are static. Since 0.2.
 * @param name        a method's name; others fail with BDL_ERROR_INVALID_ARGUMENT
 * @param families    receives the posteriors that it learns, the one to take without a wish first:
 *                    "low_rank | diagonal | full | full_moment | diagonal_moment" or some of these
 *                    ("diagonal" is a low-rank posterior of rank 0), or "dropout"
 * @param is_stream   receives 1 if it is for bdl_optimizer_observe(): one row after the other, each once
 * @param is_exact    receives 1 if bdl_optimizer_fit() takes the whole data set, counts each iteration over
 *                    it as an epoch, and ends at the optimum (option "tolerance"); there are no
 *                    single steps. The noise is fixed, or with option "learn_noise" = 1 its precision is part
 *                    of the optimum
 * @param prediction  receives how networks that it has trained predict best: BDL_MONTE_CARLO; BDL_PLUG_IN
 *                    for "map", whose posterior is a point; BDL_LINEARIZED for "laplace" and the methods for
 *                    streams, whose Gaussians are those of the linearised model (Immer et al. 2021)
 * @param doc         receives a sentence
 * @param source      receives the papers
 */
BDL_API bdl_status bdl_method_describe(const char* name, const char** families, int32_t* is_stream,
                                       int32_t* is_exact, bdl_predict_method* prediction, const char** doc,
                                       const char** source);

/**
 * Says whether a method is one to take, or a baseline of its paper to compare with: by default a baseline does not pass
 * the bar of experiments/results/scorecard.md. Any out-pointer may be NULL; strings are static. Since 0.2.
 * @param name        a method's name; others fail with BDL_ERROR_INVALID_ARGUMENT
 * @param is_baseline receives 1 for a baseline
 * @param caution     receives what to tell a user before the first fit by a baseline, which the packages of Python, R and
 *                    Julia do: what it is for, and what its intervals hold; "" for other methods
 */
BDL_API bdl_status bdl_method_standing(const char* name, int32_t* is_baseline, const char** caution);

/**
 * Says how a model that a method has trained predicts best: as bdl_method_describe() says, but generalised linear
 * models with Gaussian noise by BDL_LINEARIZED and others with one output by BDL_QUADRATURE, which are exact.
 * Since 0.2.
 * @param name       a method's name
 * @param model      the model
 * @param prediction receives the method of prediction
 */
BDL_API bdl_status bdl_method_prediction(const char* name, const bdl_model* model,
                                         bdl_predict_method* prediction);

/**
 * Suggests a method. Since 0.1.
 * @param model     the network; for generalised linear models of one output "exact-full" is better
 * @param posterior the posterior to learn
 * @param is_stream 0: "slang" for networks (its curvature costs one row an example, however many outputs there
 *                  are), "slang-ggn" for counts, numbers of images and linear models, "mc-dropout" for dropout.
 *                  Else "lo-fi" (low rank), "vd-ekf" (rank 0), "ekf" (full) or "bong" (moment parameters);
 *                  dropout fails with BDL_ERROR_UNSUPPORTED
 * @param name      receives the method's name, static
 */
BDL_API bdl_status bdl_method_suggest(const bdl_model* model, const bdl_posterior* posterior,
                                      int32_t is_stream, const char** name);

/**
 * Suggests how to train a model if you name the method, the posterior's family, both or neither: the defaults
 * of the estimators in Python, R and Julia. Any out-pointer may be NULL; strings are static.
 *
 * Networks: a low-rank posterior of rank 5, and the method of bdl_method_suggest(). Generalised linear models
 * with one output, up to 1000 parameters and up to 2^25 numbers in x: "exact-full". Other linear models:
 * "slang-exact-hess" for one output, else "slang-ggn", with a full posterior for up to 200 parameters and
 * rank 10 for more. A method that you name gets a family that it is for. Since 0.2.
 * @param model            a network
 * @param examples         rows of the data
 * @param in_blocks        1: the data come block by block, for bdl_optimizer_observe() by methods for streams
 *                         or bdl_optimizer_step() by others; 0: for bdl_optimizer_fit()
 * @param method           a method's name, or "auto"
 * @param family           one of the words of bdl_method_describe(), or "auto"
 * @param suggested_method receives `method`, or what suits
 * @param suggested_family receives `family`, or what suits
 * @param rank             receives a rank that suits a low-rank posterior; 0 for others
 * @param options          receives options to set by bdl_optimizer_set_text() before your own: for networks
 *                         with convolutions another start, "" for other networks; linear models have a fixed
 *                         prior N(0, 1) of the (standardised) coefficients, hardly any of intercepts, and
 *                         learn their noise
 */
BDL_API bdl_status bdl_training_suggest(const bdl_model* model, int64_t examples, int32_t in_blocks,
                                        const char* method, const char* family, const char** suggested_method,
                                        const char** suggested_family, int64_t* rank, const char** options);

/**
 * Suggests the noise of a regression, the default of the estimators: BDL_HETEROSCEDASTIC if fits of this
 * optimizer learn scales by the evidence (option "scales"), which keeps the noise equal everywhere unless the
 * data say otherwise; else BDL_GAUSSIAN. So it is Gaussian for streams, linear models, dropout posteriors,
 * layers that look at the whole minibatch, and if the options fix the noise. A heteroscedastic model has twice
 * the outputs, so ask before you create the model that you train. Since 0.2.
 *
 * BDL_STUDENT_T takes the place of BDL_HETEROSCEDASTIC if a target is more than 1000 robust standard deviations
 * from the median of its column: such a target would hide all others. A robust standard deviation is 1.4826
 * times the median absolute deviation; columns in which that is 0 do not count.
 * @param optimizer        of a Gaussian model with the same hidden layers, with your options
 * @param in_blocks        as of bdl_training_suggest(); 1: Gaussian
 * @param prior_parameters parameters of the posterior that is to be the prior, 0 without one. It decides alone:
 *                         the noise is that of the optimizer's model if that has as many, else
 *                         heteroscedastic
 * @param y                rows x targets, NaN where a target is missing; bdl_none(): they are not known, and the
 *                         noise is not Student-t
 * @param noise            receives the likelihood
 * @param distance         receives how many robust standard deviations the farthest target is from the median if
 *                         this makes the noise BDL_STUDENT_T, else 0; may be NULL
 */
BDL_API bdl_status bdl_noise_suggest(const bdl_optimizer* optimizer, int32_t in_blocks,
                                     int64_t prior_parameters, bdl_matrix y, bdl_likelihood* noise,
                                     double* distance);

/** Number of presets. Since 0.2. */
BDL_API int64_t bdl_preset_count(void);

/** Returns the i-th preset's name, i = 0 to bdl_preset_count() - 1; NULL beyond. Static. Since 0.2. */
BDL_API const char* bdl_preset_name(int64_t index);

/**
 * Describes published settings by name: "vogn-resnet18" are those of VOGN for ResNet-18 on CIFAR-10. Options that
 * depend on the data's size, such as warm-ups, are for the data that the sentence names. Any out-pointer may be
 * NULL; strings are static. Since 0.2.
 * @param name    a preset's name; others fail with BDL_ERROR_INVALID_ARGUMENT
 * @param method  receives the method, for bdl_optimizer_create()
 * @param options receives the options, for bdl_optimizer_set_text()
 * @param epochs  receives the published number of passes over the data, for bdl_optimizer_fit()
 * @param doc     receives sentences: the source, network and data, and what differs from the publication
 */
BDL_API bdl_status bdl_preset_describe(const char* name, const char** method, const char** options,
                                       int64_t* epochs, const char** doc);

/** Number of rows of bdl_default_describe(). Since 0.2. */
BDL_API int64_t bdl_default_count(void);

/**
 * Describes defaults of estimators that do not depend on data: "hidden" units, "epochs", "samples" of predictions,
 * "input_rate" and "hidden_rate" of dropout, "seed"; of those for images "image_epochs" and "image_samples"; and
 * of the leverages that fits keep (bdl_predict_leverage()) "novelty_rows", "novelty_stream_rows" and
 * "novelty_numbers". Any out-pointer may be NULL; strings are static. Since 0.2.
 * @param index 0 to bdl_default_count() - 1
 * @param name  receives the name
 * @param value receives the value
 * @param doc   receives a sentence
 */
BDL_API bdl_status bdl_default_describe(int64_t index, const char** name, double* value, const char** doc);

/**
 * Creates an optimizer of a posterior. It shares the two handles' objects: training changes the posterior and,
 * if it is learned, the model's noise precision. A method that does not support the model or the posterior is
 * refused here, with BDL_ERROR_UNSUPPORTED, not only at the first step. A blank posterior becomes one of the
 * model's point parameters and running statistics, if it has any (posterior.h); BDL_ERROR_SHAPE for one of a
 * network that has others. Since 0.1.
 * @param model      the model to learn; NULL if only bdl_optimizer_step_rows() will be used
 * @param posterior  of the model's dtype and number of parameters
 * @param method     a method's name; bdl_method_describe() says which posteriors it is for
 * @param data_size  N, the number of examples in the whole data set: it weighs the likelihood against
 *                   the prior. It has no effect on streams
 * @param optimizer  receives the handle; free with bdl_optimizer_free()
 */
BDL_API bdl_status bdl_optimizer_create(bdl_model* model, bdl_posterior* posterior, const char* method,
                                        int64_t data_size, bdl_optimizer** optimizer);

/** Frees the handle. NULL is fine. Since 0.1. */
BDL_API void bdl_optimizer_free(bdl_optimizer* optimizer);

/** Returns the name of the optimizer's method, static; "" for NULL. Since 0.1. */
BDL_API const char* bdl_optimizer_method(const bdl_optimizer* optimizer);

/** Returns N, as given to bdl_optimizer_create(); 0 for NULL. Since 0.1. */
BDL_API int64_t bdl_optimizer_data_size(const bdl_optimizer* optimizer);

/**
 * Sets a real option. Unknown name: BDL_ERROR_UNKNOWN_OPTION offering the nearest. Options, method, model and
 * posterior must go together after each call, for what the method is for (bdl_optimizer_fit(), or
 * bdl_optimizer_observe() by methods and rules for streams): else BDL_ERROR_UNSUPPORTED, and nothing has
 * changed. If the way from one valid combination to another leads through one that is not,
 * bdl_optimizer_set_text() sets several options at once. Since 0.1.
 */
BDL_API bdl_status bdl_optimizer_set_double(bdl_optimizer* optimizer, const char* name, double value);

/** Sets an integer option or switch. Since 0.1. */
BDL_API bdl_status bdl_optimizer_set_int(bdl_optimizer* optimizer, const char* name, int64_t value);

/** Sets a choice. Since 0.1. */
BDL_API bdl_status bdl_optimizer_set_choice(bdl_optimizer* optimizer, const char* name, const char* value);

/**
 * Sets options from text, "learning_rate=0.1 rule=bbb": words name=value between blanks, numbers as C writes
 * them. All are set or, on any error, which names the word, none; only the final combination must be valid.
 * Since 0.2.
 */
BDL_API bdl_status bdl_optimizer_set_text(bdl_optimizer* optimizer, const char* text);

/** Reads a real option. Since 0.1. */
BDL_API bdl_status bdl_optimizer_get_double(const bdl_optimizer* optimizer, const char* name, double* value);

/** Reads an integer option. Since 0.1. */
BDL_API bdl_status bdl_optimizer_get_int(const bdl_optimizer* optimizer, const char* name, int64_t* value);

/** Reads a choice; the string is static. Since 0.1. */
BDL_API bdl_status bdl_optimizer_get_choice(const bdl_optimizer* optimizer, const char* name,
                                            const char** value);

/** Number of options. Since 0.2. */
BDL_API int64_t bdl_option_count(void);

/**
 * Describes the i-th option. Strings are static; any out-pointer may be NULL. Since 0.1.
 * @param index         0 to bdl_option_count() - 1
 * @param name          receives the name
 * @param type          receives the type
 * @param default_value receives the default as text
 * @param range         receives the allowed values as text: "(0, inf)", "0 | 1", "cosine | power"
 * @param doc           receives one or two sentences
 */
BDL_API bdl_status bdl_option_describe(int64_t index, const char** name, bdl_option_type* type,
                                       const char** default_value, const char** range, const char** doc);

/**
 * Returns who reads the i-th option, as a static text that completes "is read by": "schedule steps", "descents
 * vogn, ivon and kfac". An option that the caller changes although nothing reads it is refused with
 * BDL_ERROR_UNSUPPORTED, unless the value is the method's default. "" if there is no such option. Since 0.2.
 */
BDL_API const char* bdl_option_readers(int64_t index);

/**
 * Fixes the prior N(0, diag(precision)^-1) parameter by parameter and stops learning its precision.
 * Options "prior_precision" and "bias_prior_precision" give it by groups instead, times the inputs of each
 * layer if "prior_scaling" is "fan_in"; these values are taken as they are. Since 0.1.
 * @param optimizer an optimizer
 * @param precision 1 x 1 or 1 x D, positive; point parameters have no prior, and what is given for them is 1
 */
BDL_API bdl_status bdl_optimizer_set_prior(bdl_optimizer* optimizer, bdl_matrix precision);

/**
 * Makes a posterior the prior, with its mean and whole precision: one that was learned from earlier data,
 * for example. The prior is then fixed, and "learn_prior" has no effect, until an option that defines the prior is
 * set. A blank posterior starts from the prior's mean; a stream (bdl_optimizer_observe()) from the whole
 * prior, which has no effect on a stream that has begun. The ELBO, its KL divergence and checkpoints use it.
 *
 * Full and full-moment posteriors are learned with exactly that prior. Layerwise-full and diagonal
 * ones maximise the ELBO with it over their own families. Low-rank posteriors of any rank take low-rank and
 * diagonal priors, Kronecker-factored ones those of the same layers and diagonal ones. Rules map and bbb take
 * any prior (map with Laplace's approximation: as above). Streams need one that their posterior can hold: one
 * of its own family and no larger rank, or a diagonal one, or any for full posteriors. BDL_ERROR_UNSUPPORTED
 * for others, for dropout and for modes (bdl_posterior_has_covariance()). Since 0.1.
 * @param optimizer an optimizer
 * @param prior     a Gaussian posterior of as many parameters, of any family and dtype; it is copied
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED as above, BDL_ERROR_SHAPE for another number of parameters,
 *         BDL_ERROR_INVALID_ARGUMENT or BDL_ERROR_DIVERGED if the optimizer's dtype cannot hold it
 */
BDL_API bdl_status bdl_optimizer_set_prior_posterior(bdl_optimizer* optimizer, const bdl_posterior* prior);

/**
 * Reads the current, possibly learned, prior precision of every parameter into 1 x D; of a posterior as
 * prior, its precision's diagonal. Since 0.1.
 */
BDL_API bdl_status bdl_optimizer_get_prior(const bdl_optimizer* optimizer, bdl_matrix_out precision);

/**
 * Restarts: mean = a network initialisation (options "initialization", "seed"; 0 without a network),
 * U = 0, precision = option "initial_precision", step counter 0, momentum and Adam's averages 0, scales as
 * the options say. fit and step do this automatically if the posterior is blank. Since 0.1.
 */
BDL_API bdl_status bdl_optimizer_initialize(bdl_optimizer* optimizer);

/**
 * Takes one step on the caller's minibatch, whole or, on any error, not at all. If training
 * diverges, the call returns BDL_ERROR_DIVERGED, and everything is as in the last good state. The examples are
 * used without augmentation, whatever the options say, as the caller chooses them. Since 0.1.
 * @param optimizer an optimizer with a model
 * @param x         M x inputs, 1 <= M <= N
 * @param y         M x targets
 */
BDL_API bdl_status bdl_optimizer_step(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y);

/**
 * Replaces the covariance by that of Laplace's approximation around the present mean, which stays: the
 * precision becomes the generalised Gauss-Newton matrix of all the data plus the prior precision (MacKay 1992;
 * Ritter, Botev, Barber 2018). A full posterior keeps all of it, a layerwise one its blocks, a diagonal one its
 * diagonal, a low-rank one also its L largest eigenpairs, a Kronecker-factored one its factors. The mean should
 * be a mode: option "laplace" calls this at the end of every fit, and method "laplace" is "map" with that
 * option. With option "shards" it adds up shards of the data, which ranks divide among them
 * (bdl_optimizer_set_communicator()). Since 0.1.
 * @param optimizer an optimizer with a model; its posterior low-rank (diagonal: rank 0), full, layerwise-full or
 *                  Kronecker-factored, and not blank; else BDL_ERROR_UNSUPPORTED
 * @param x         n x inputs, up to 2^28 rows times outputs: they count as N examples
 * @param y         n x targets
 */
BDL_API bdl_status bdl_optimizer_laplace(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y);

/**
 * Computes the evidence, or log marginal likelihood, of the last Laplace approximation: log p(y | theta) / T +
 * log p(theta) + D / 2 log 2 pi - 1/2 log det (H / T + Lambda_0) at its mean, with the curvature H in the
 * posterior's family and the temperature T of option "kl_weight" (docs/theory/evidence.md). It needs no
 * data, and changes nothing. bdl_optimizer_laplace(), or a fit with option "laplace", must have been called
 * since the mean, a posterior that is the prior, or ratios of noise precisions last changed, also after
 * loading a checkpoint; else BDL_ERROR_UNSUPPORTED. Any out-pointer may be NULL. Since 0.2.
 * @param optimizer            an optimizer with a model
 * @param prior_precision      bdl_none() for the present prior; 1 x 1, 1 x G for its groups (option
 *                             "prior_groups") or 1 x D
 * @param noise_precision      bdl_none() for the present noise; of Gaussian noise 1 x 1 or 1 x targets, with
 *                             the ratios of the model's
 * @param log_evidence         out: the evidence, in nats
 * @param log_likelihood       out: log p(y | theta)
 * @param effective_parameters out: number of parameters that the data determine, tr(H / T Sigma)
 */
BDL_API bdl_status bdl_optimizer_evidence(const bdl_optimizer* optimizer, bdl_matrix prior_precision,
                                          bdl_matrix noise_precision, double* log_evidence,
                                          double* log_likelihood, double* effective_parameters);

/**
 * Sets the precisions of the prior's groups, the noise, and the posterior's covariance to those at which the
 * evidence of bdl_optimizer_evidence() is greatest; the mean stays. There is one optimum at most, since the
 * evidence is concave in the logarithms of the precisions. A group of which the data or the mean say nothing
 * keeps its precision. On failure nothing has changed. Since 0.2.
 * @param optimizer    an optimizer with a model; UNSUPPORTED as there, and for "prior" if the prior is fixed, for
 *                     "noise" unless it is Gaussian
 * @param of           "prior", "noise" (a common factor on its precisions) or "prior noise"
 * @param log_evidence out: the evidence there; may be NULL
 * @param steps        out: steps of Newton's method; may be NULL
 */
BDL_API bdl_status bdl_optimizer_maximize_evidence(bdl_optimizer* optimizer, const char* of,
                                                   double* log_evidence, int64_t* steps);

/**
 * Computes 1/2 g^T Sigma g nats for the gradient g of the loss at the mean and Laplace's Sigma: what a Newton step
 * would gain. Training that has found a mode under this prior has a gap below 1. Since 0.2.
 * @param optimizer an optimizer with a Laplace approximation, as for bdl_optimizer_evidence()
 * @param x         n x inputs, which count as N examples
 * @param y         n x targets
 * @param gap       out
 */
BDL_API bdl_status bdl_optimizer_mode_gap(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                          double* gap);

/**
 * Takes one step from the caller's own gradient rows of -log p: M examples under S parameter samples make
 * n = M S rows, and the gradient estimate is N / n times their sum. Scales are not learned from rows.
 * Since 0.1.
 * @param optimizer an optimizer, with or without a model
 * @param rows      n x D
 */
BDL_API bdl_status bdl_optimizer_step_rows(bdl_optimizer* optimizer, bdl_matrix rows);

/**
 * Progress of fit, called on the thread of fit after steps as option "progress_every" says. It may read
 * the optimizer, its posterior and its model, and call bdl_optimizer_request_stop(), but change none of them.
 * @return 0 to go on; positive: fit returns BDL_STOPPED, unless it was the last step; negative: fit returns
 *         BDL_ERROR_CALLBACK. Either way everything is as after the last completed step
 */
typedef int32_t (*bdl_progress_fn)(void* user_data, const bdl_optimizer* optimizer);

/**
 * Trains on minibatches of the data (options "minibatch", "sampling"). Schedules run over this call's
 * epochs unless option "total_steps" plans a longer course. Steps after a course keep
 * its final rates.
 *
 * Methods "exact-*" iterate over all data, an epoch each, until they have converged: fewer epochs than asked
 * for (bdl_optimizer_progress()) mean that they have. Interrupted or limited ones continue from the posterior
 * when fit is called again, to the same optimum up to rounding.
 *
 * Images ("input CHANNELS ROWS COLUMNS") may be augmented: options "augment_pad" and "augment_flip" shift and
 * mirror each one, differently in each epoch, as a function of seed, epoch and the row of x. N does not change.
 * Everything else that reads the data, such as Laplace's approximation, and all predictions
 * use the original images. Since 0.1.
 * @param optimizer an optimizer with a model
 * @param x         n x inputs; n is usually N, and must be for methods "exact-*"
 * @param y         n x targets
 * @param epochs    passes over the data, >= 1; 0 finishes an interrupted fit (of this process or a
 *                  checkpoint) with the results of a fit that was never interrupted,
 *                  unless training diverges: a checkpoint has no earlier good state to go back to
 * @param progress  may be NULL
 * @param user_data handed to progress
 * @return BDL_OK, BDL_STOPPED, or an error; a stop or error leaves the state after the last step. Training
 *         that diverges goes back to its last good state: with option "guard", to continue with half the
 *         learning rate; without it, or after ten times, the call returns BDL_ERROR_DIVERGED
 */
BDL_API bdl_status bdl_optimizer_fit(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, int64_t epochs,
                                     bdl_progress_fn progress, void* user_data);

/**
 * Asks a running fit to return BDL_STOPPED after its current step, or the next fit after its first.
 * Any thread or signal handler may call it. Since 0.1.
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
 * Reads training's running estimates of the ELBO's two terms: free of cost, but noisy. Since 0.1.
 * @param optimizer               an optimizer that has taken a step with its model
 * @param expected_log_likelihood receives the estimate of E_q[sum over N examples of log p], averaged
 *                                over the last epoch of steps (exponentially)
 * @param kl                      receives KL(q || prior) now. ELBO = expected_log_likelihood - kl
 */
BDL_API bdl_status bdl_optimizer_running_elbo(const bdl_optimizer* optimizer, double* expected_log_likelihood,
                                              double* kl);

/**
 * Computes the ELBO's two terms on given data. Since 0.1.
 * @param optimizer               an optimizer with a model
 * @param x                       n x inputs
 * @param y                       n x targets
 * @param samples                 S >= 1 posterior samples; 0: exact one-dimensional quadrature
 *                                (one-output generalised linear models)
 * @param seed                    of the samples
 * @param expected_log_likelihood receives E_q[sum_i log p(y_i | x_i)] times N / n
 * @param kl                      receives KL(q || prior); may be NULL, as may the former
 */
BDL_API bdl_status bdl_optimizer_elbo(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                      int64_t samples, uint64_t seed, double* expected_log_likelihood,
                                      double* kl);

/**
 * Lets training start from a Gaussian or Student-t noise of each target's own: option
 * "initial_noise_precision" (where it is 0, 100 for networks with hidden units and 1 for others and on
 * streams) over the variance of the target. bdl_optimizer_fit() and bdl_optimizer_step() start with one noise
 * of all (standardised) targets automatically, bdl_optimizer_observe() with that of the model. It does
 * nothing for other likelihoods, where the noise was set, where "learn_noise" is 0 (but on streams), and where
 * a stream has yet to learn its scales.
 * Since 0.2.
 * @param optimizer an optimizer with a model
 * @param y         n x targets; NaN does not count
 */
BDL_API bdl_status bdl_optimizer_start_noise(bdl_optimizer* optimizer, bdl_matrix y);

/** Reads the number of examples in a minibatch of fit, as options "minibatch" and "minibatches" say. Since
 * 0.2. */
BDL_API bdl_status bdl_optimizer_minibatch(const bdl_optimizer* optimizer, int64_t* examples);

/**
 * Estimates how many bytes the optimizer's arrays will take once it has stepped on minibatches of M examples
 * (on M rows, without a model), before anything is allocated. The estimate is an upper bound, at most a
 * quarter above what is used but for some kilobytes. It counts every array that grows with the problem:
 * copies of the posterior, scratch, moving averages, a posterior as prior. It does not count small objects,
 * which take some kilobytes whatever M is, nor what model and posterior hold themselves. For the methods
 * exact-* it is the most that a fit takes in addition, libLBFGS included. Since 0.1.
 * @param optimizer an optimizer
 * @param minibatch M; 0: as option "minibatch" says. The methods exact-* take all rows whatever M is, a part
 *                  at a time: their memory does not grow with N beyond 2^18 numbers or D rows
 * @param bytes     receives the number
 */
BDL_API bdl_status bdl_optimizer_memory(const bdl_optimizer* optimizer, int64_t minibatch, int64_t* bytes);

/**
 * Returns the number of steps that option "guard" has limited; 0 for NULL. On small data most steps of the
 * first half are usual. Since 0.1.
 */
BDL_API int64_t bdl_optimizer_guarded_steps(const bdl_optimizer* optimizer);

/**
 * Says how training makes the noise of a low-rank-moment posterior in each of the network's layers, as option
 * "noise_estimator" says, and whether the distribution of an example's outputs there is that of a draw of the
 * parameters. It is, but for "local" in convolutions of more than one position. Since 0.2.
 * @param optimizer an optimizer of a low-rank-moment posterior; others: BDL_ERROR_UNSUPPORTED
 * @param is_exact  receives 1 if it is in every layer, else 0
 * @param text      receives a line for each layer with weights, such as "conv 6 5: weights, exact"; it lives
 *                  as long as the optimizer. Any out-pointer may be NULL
 */
BDL_API bdl_status bdl_optimizer_noise(const bdl_optimizer* optimizer, int32_t* is_exact, const char** text);

/**
 * Checks what training has learned and says what to change. In this order: training diverged and was taken back
 * to its last good state; no step was taken; a fit by a method exact-* has ended more than 1e-4 posterior
 * standard deviations from the optimum (at the optimum only the noise is checked further); the precision of
 * most parameters is below 1 % of their prior's or more than 1e12 times its start; the noise is at a bound, or
 * learning it has not begun; mean or precision still are as at initialisation (or at the optimizer's creation);
 * the expected log likelihood of an example is still 0.15 nats above its average over the steps so far, later
 * ones counting more. Streams are checked for the first two only, and method "map" not for precisions. Since
 * 0.1.
 * @param optimizer       an optimizer
 * @param mean_shift      receives the root mean square of (mu - mu_0) sqrt(diag(Sigma^-1)): shifts in
 *                        units of posterior standard deviations; NaN for dropout. Below 0.1 the mean still is its start
 * @param precision_shift receives the root mean square of log(diag(Sigma^-1) / diag(Sigma_0^-1)).
 *                        Below 0.1 the uncertainty still is its start
 * @param message         receives a static sentence: what is wrong and what to change, or "" if nothing
 *                        is. Any out-pointer may be NULL
 */
BDL_API bdl_status bdl_optimizer_diagnose(const bdl_optimizer* optimizer, double* mean_shift,
                                          double* precision_shift, const char** message);

/**
 * Looks whether a network with hidden units answers the same for every row: at the posterior's mean, and if the
 * method's predictions average over draws, on average over 20 of them too. Since 0.2.
 * @param optimizer an optimizer of a model
 * @param x         inputs, for example those of training; of more than 100 rows 100 evenly spaced ones count
 * @param y         targets
 * @param spread    receives the largest standard deviation over rows of a class's probability, or of a mean in standard
 *                  deviations of its target (with Student-t noise robust ones); infinity for models without hidden
 *                  units, for fewer than ten rows, and if no target varies
 * @param message   receives a static sentence if the spread is below 0.01: what to change if there is something to learn;
 *                  else "". Either out-pointer may be NULL
 */
BDL_API bdl_status bdl_optimizer_diagnose_answers(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y,
                                                  double* spread, const char** message);

#ifdef __cplusplus
}
#endif

#endif
