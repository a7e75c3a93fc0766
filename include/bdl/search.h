/**
 * @file search.h
 * Search of hyper-parameters. Named options of an optimizer (optimizer.h) are varied within ranges, at
 * random or by Bayesian optimisation, and each set of values is scored by K-fold cross-validation.
 *
 *     bdl_search* search;
 *     int64_t best;
 *     bdl_optimizer_set_text(optimizer, "learn_prior=0 learn_noise=0"); // the search chooses both
 *     bdl_search_create(optimizer, 5, 120, BDL_MONTE_CARLO, 100, 1, &search);
 *     bdl_search_add_double(search, "prior_precision", 0.01, 100, BDL_SCALE_LOG);
 *     bdl_search_add_double(search, "initial_noise_precision", 1, 1000, BDL_SCALE_LOG);
 *     bdl_search_run(search, x, y, 5, 25, NULL, NULL); // 5 random trials, then 25 Bayesian ones
 *     bdl_search_best(search, &best);
 *     bdl_search_apply(search, best, optimizer);       // the best values become its options
 *     bdl_optimizer_fit(optimizer, x, y, 120, NULL, NULL);
 *
 * For each fold, a trial trains on the other folds and scores the fold that was left out, by the mean log
 * predictive density of its rows (bdl_predict_log_density()). The score of the trial is the mean over the
 * folds. Data are standardised as in the model of the prototype (bdl_model_standardize()).
 *
 * Do not search precisions that training learns. To search "prior_precision", set "learn_prior" to 0. To
 * search the Gaussian noise, set "learn_noise" to 0 and search "initial_noise_precision", in units of 1 /
 * Var(y).
 *
 * Scores depend on the seed and the data only, not on the number of workers or processes, on stops in
 * between, or on the number of runs that a search was made in. The values of Bayesian trials depend on
 * bdl_search_set_parallel_trials() as well.
 */
#ifndef BDL_SEARCH_H
#define BDL_SEARCH_H

#include "bdl/communicator.h"
#include "bdl/matrix.h"
#include "bdl/optimizer.h"
#include "bdl/predict.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A search: its ranges, and its trials so far. */
typedef struct bdl_search bdl_search;

/** Scales on which values are distributed evenly over a range. */
typedef enum bdl_scale {
  BDL_SCALE_LINEAR = 1, /**< the values themselves */
  BDL_SCALE_LOG = 2,    /**< their logarithms: for precisions, rates, sizes; limits > 0 */
  BDL_SCALE_FORCE_INT32 = 0x7fffffff
} bdl_scale;

/**
 * Creates a search. It copies the prototype's model, family of posteriors, method, options and
 * bdl_optimizer_set_prior(), so later changes to the prototype have no effect, and a search never changes
 * the prototype. Every trial starts from an uninitialised posterior, as after bdl_optimizer_initialize().
 * The data size of a trial is that of the prototype, times the fraction of the rows that the trial trains
 * on. Since 0.1.
 * @param prototype an optimizer with a model. Without bdl_search_set_workers(), its option "threads" is the
 *                  number of threads that train folds
 * @param folds     K >= 2
 * @param epochs    epochs of each fold, as for bdl_optimizer_fit()
 * @param method    method of prediction, as for bdl_predict_log_density()
 * @param samples   samples of the predictions
 * @param seed      seed of the folds, of the values of trials and of predictions. Training has the same
 *                  seed, option "seed", in all trials, so trials differ in their values only
 * @param search    receives the handle; free it with bdl_search_free()
 */
BDL_API bdl_status bdl_search_create(const bdl_optimizer* prototype, int64_t folds, int64_t epochs,
                                     bdl_predict_method method, int64_t samples, uint64_t seed,
                                     bdl_search** search);

/** Frees the handle. NULL is allowed. Since 0.1. */
BDL_API void bdl_search_free(bdl_search* search);

/**
 * Varies a real option. Add all ranges before the first trial. For an unknown name,
 * BDL_ERROR_UNKNOWN_OPTION offers the nearest. Since 0.1.
 * @param search a search
 * @param option name of a real option that has no range yet
 * @param low    smallest value, within the option's own range
 * @param high   largest value, within the option's own range, > low
 * @param scale  scale on which values are distributed between them
 */
BDL_API bdl_status bdl_search_add_double(bdl_search* search, const char* option, double low, double high,
                                         bdl_scale scale);

/**
 * Varies an integer option, as bdl_search_add_double() does a real one. Since 0.1.
 * @param search a search
 * @param option name of an integer option that has no range yet
 * @param low    smallest value, -2^53 or more
 * @param high   largest value, up to 2^53, > low
 * @param scale  scale on which values are distributed between them
 */
BDL_API bdl_status bdl_search_add_int(bdl_search* search, const char* option, int64_t low, int64_t high,
                                      bdl_scale scale);

/**
 * Varies a choice. Since 0.1.
 * @param search a search
 * @param option name of a choice that has no range yet
 * @param words  at least two of the option's words, separated by bars: "mc-ef | mc-ggn"
 */
BDL_API bdl_status bdl_search_add_choice(bdl_search* search, const char* option, const char* words);

/**
 * Sets the number of Bayesian trials that are proposed from the same scores, as a batch, so that they can
 * be trained at the same time. Each proposal of a batch assumes that the earlier ones get the scores that
 * the Gaussian process expects (Ginsbourger, Le Riche, Carraro 2010, Kriging is well-suited to parallelize
 * optimization). The number changes which values are tried, so it is fixed before the first trial. Random
 * trials need no scores: as many are trained at the same time as there are workers for. Since 0.2.
 * @param search          a search without trials
 * @param parallel_trials 1 (the default) to 1000
 */
BDL_API bdl_status bdl_search_set_parallel_trials(bdl_search* search, int64_t parallel_trials);

/**
 * Sets the number of threads, including the calling thread, that train the folds of trials in later runs.
 * Results do not depend on it. Each worker trains on one thread, and holds a model, a posterior and the
 * memory of an optimizer (bdl_optimizer_memory()). A Bayesian trial has work for K workers, a batch of B
 * trials for K B. A custom model always has one worker, the thread of bdl_search_run(), so its callbacks need
 * not be safe to call from several threads. Since 0.2.
 * @param search  a search
 * @param workers 1 to 256; 0, the default: option "threads" of the prototype
 */
BDL_API bdl_status bdl_search_set_workers(bdl_search* search, int64_t workers);

/**
 * Makes bdl_search_run() a collective call (communicator.h). All processes make it, with equal arguments
 * and data, on searches that are equal in everything but workers. The folds of each batch are dealt to the
 * processes in turn, and all processes end with the same trials, whatever their number. Random trials also
 * come in batches: as many as give all processes the same number of folds, at least parallel_trials. Only
 * rank 0 reports progress. Any method can be searched, because one process trains a fold alone. Since 0.2.
 *
 * If processes differ, all of them fail, and the message names the difference. If one process fails, it
 * returns its own error and the others return BDL_ERROR_PEER; all processes keep the same trials. A stop of
 * any process is BDL_STOPPED in all processes, after the others have trained their folds of the batch. A
 * communicator that gives up after a while must wait for as long as a batch may take.
 * @param search       a search
 * @param communicator the processes; NULL: search alone again
 */
BDL_API bdl_status bdl_search_set_communicator(bdl_search* search, bdl_communicator* communicator);

/**
 * Callback: progress of bdl_search_run(), on its thread, after every trial, in the order of the trials. It
 * may read the search, but not change it, and may call bdl_search_request_stop(). Other workers continue
 * meanwhile; trials that they have not completed are lost if the run stops.
 * @param user_data as given to bdl_search_run()
 * @param search    the search, with the new trial
 * @return 0 to go on; positive: bdl_search_run() returns BDL_STOPPED, unless it was the last trial;
 *         negative: BDL_ERROR_CALLBACK. Either way the trials are kept
 */
typedef int32_t (*bdl_search_progress_fn)(void* user_data, const bdl_search* search);

/**
 * Adds trials: first random ones, uniformly over the ranges, then Bayesian ones. For these, a Gaussian
 * process with a Matern 5/2 covariance is fitted to the scores so far, and the values of the greatest
 * expected improvement are tried (Snoek et al. 2012, Practical Bayesian optimization of machine learning
 * algorithms). While fewer than two trials have a score, Bayesian trials are random too. Values that were
 * tried before are not trained again. Another run adds to the same search: after a stop, run the missing
 * trials. Since 0.1.
 *
 * A trial that fails (divergence, invalid combinations of options, a callback of a custom model) has a
 * message in place of a score, and the search goes on. A search without ranges has one random trial: the
 * cross-validation of the prototype's own options.
 * @param search          a search
 * @param x               n x inputs, n >= folds; the same data in every run of a search
 * @param y               n x targets
 * @param random_trials   0 to 1e6
 * @param bayesian_trials 0 to 1e6; each costs O(k^3) for k trials so far, in addition to its training
 * @param progress        may be NULL
 * @param user_data       passed to progress
 * @return BDL_OK, BDL_STOPPED, or an error; trials that were reported as completed are kept
 */
BDL_API bdl_status bdl_search_run(bdl_search* search, bdl_matrix x, bdl_matrix y, int64_t random_trials,
                                  int64_t bayesian_trials, bdl_search_progress_fn progress, void* user_data);

/**
 * Asks a running search, or the next one, to return BDL_STOPPED. A trial in training ends after its current
 * steps and is not kept. Any thread or signal handler may call this function. Since 0.1.
 * @param search a search; NULL does nothing
 */
BDL_API void bdl_search_request_stop(bdl_search* search);

/** Returns the number of trials, including failed ones; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_search_trial_count(const bdl_search* search);

/**
 * Reads a trial's values and result. Any out-pointer may be NULL. Since 0.1.
 * @param search         a search
 * @param trial          0 to bdl_search_trial_count() - 1, in the order of the trials
 * @param values         receives 1 x R, one value for each of the R ranges in the order in which they were
 *                       added. The value of a choice is the number of its word among the given ones, from
 *                       0. May be bdl_none_out()
 * @param score          receives the mean over the folds of the mean log predictive density, in nats per
 *                       row; NaN if the trial failed
 * @param standard_error receives the standard error of the score, from the differences of the folds; NaN if
 *                       the trial failed
 * @param message        receives why the trial failed, beginning with the fold, or "". Valid until the next
 *                       bdl_search_run() or bdl_search_free()
 */
BDL_API bdl_status bdl_search_trial(const bdl_search* search, int64_t trial, bdl_matrix_out values,
                                    double* score, double* standard_error, const char** message);

/**
 * Finds the trial with the highest score. Since 0.1.
 * @param search a search
 * @param trial  receives the number of the trial
 * @return BDL_OK, BDL_ERROR_UNSUPPORTED if no trial has a score
 */
BDL_API bdl_status bdl_search_best(const bdl_search* search, int64_t* trial);

/**
 * Sets the varied options of an optimizer to a trial's values: all of them or, on an error, none. Since
 * 0.1.
 * @param search    a search
 * @param trial     0 to bdl_search_trial_count() - 1
 * @param optimizer any optimizer, of either dtype. If the prior was searched, the prior of
 *                  bdl_optimizer_set_prior() is removed
 */
BDL_API bdl_status bdl_search_apply(const bdl_search* search, int64_t trial, bdl_optimizer* optimizer);

/**
 * Computes the fold of each row, so that you can repeat a trial or score it otherwise. Fold k was left out
 * of the training on folds k + 1, ..., K - 1, 0, ..., k - 1, in this order, and within a fold in the order
 * of the rows. Since 0.1.
 * @param search a search
 * @param fold   receives n x 1: numbers 0 to K - 1; n is the number of rows of x, >= K
 */
BDL_API bdl_status bdl_search_folds(const bdl_search* search, bdl_matrix_out fold);

#ifdef __cplusplus
}
#endif

#endif
