/**
 * @file search.h
 * Search of hyper-parameters: named options of an optimizer (bdl/optimizer.h) are varied within ranges, at
 * random or by Bayesian optimisation, and each set of values is scored by K-fold cross-validation.
 *
 *   bdl_search* search;
 *   bdl_search_create(optimizer, 5, 120, BDL_MONTE_CARLO, 100, 1, &search);
 *   bdl_search_add_double(search, "prior_precision", 0.01, 100, BDL_SCALE_LOG);
 *   bdl_search_add_double(search, "initial_noise_precision", 1, 1000, BDL_SCALE_LOG);
 *   bdl_search_run(search, x, y, 5, 25, NULL, NULL);           // 5 trials at random, then 25 Bayesian ones
 *   bdl_search_best(search, &best);
 *   bdl_search_apply(search, best, optimizer);                 // the best values become its options
 *   bdl_optimizer_fit(optimizer, x, y, 120, NULL, NULL);
 *
 * A trial trains, for each fold, on the other folds, and scores the fold that was left out: the mean log
 * predictive density of its rows, as bdl_predict_log_density() computes it. The trial's score is the mean
 * over the folds. Data are standardised as the prototype's model says (bdl_model_standardize()).
 *
 * Precisions that are learned are not worth a search: for "prior_precision" set "learn_prior" to 0; for the
 * Gaussian noise "learn_noise" to 0 and search "initial_noise_precision", in units of 1 / Var(y).
 *
 * Scores depend on the seed and the data alone, not on the number of workers or ranks, on stops in between, or
 * on the number of runs that a search was made in. The values of Bayesian trials depend on
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

typedef struct bdl_search bdl_search;

/** Scale on which values are distributed evenly over a range. */
typedef enum bdl_scale {
  BDL_SCALE_LINEAR = 1, /**< the values themselves */
  BDL_SCALE_LOG = 2,    /**< their logarithms: for precisions, rates, sizes; limits > 0 */
  BDL_SCALE_FORCE_INT32 = 0x7fffffff
} bdl_scale;

/**
 * Creates a search. It copies the prototype's model, family of posteriors, method, options and
 * bdl_optimizer_set_prior(): what happens to the prototype later does not matter, and a search never changes
 * it. Every trial starts blank, as after bdl_optimizer_initialize(). The data size of a trial is the
 * prototype's, times the fraction of the rows that it trains on. Since 0.1.
 * @param prototype an optimizer with a model. Without bdl_search_set_workers(), folds are trained on as many
 *                  threads as its option "threads" says
 * @param folds     K >= 2
 * @param epochs    as of bdl_optimizer_fit(), of each fold
 * @param method    of the predictive distribution, as of bdl_predict_log_density()
 * @param samples   of the predictive distribution
 * @param seed      of the folds, of the trials' values and of the predictive distribution. Training has the
 *                  same seed in all trials, option "seed": their differences are those of the values
 * @param search    receives the handle; free with bdl_search_free()
 */
BDL_API bdl_status bdl_search_create(const bdl_optimizer* prototype, int64_t folds, int64_t epochs,
                                     bdl_predict_method method, int64_t samples, uint64_t seed,
                                     bdl_search** search);

/** Frees the handle. NULL is fine. Since 0.1. */
BDL_API void bdl_search_free(bdl_search* search);

/**
 * Varies a real option. Ranges are added before the first trial. Unknown name: BDL_ERROR_UNKNOWN_OPTION
 * offering the nearest. Since 0.1.
 * @param search a search
 * @param option name of a real option that has no range yet
 * @param low    smallest value, within the option's own range
 * @param high   largest value, likewise, > low
 * @param scale  scale on which values are distributed between them
 */
BDL_API bdl_status bdl_search_add_double(bdl_search* search, const char* option, double low, double high,
                                         bdl_scale scale);

/** Varies an integer option, as bdl_search_add_double(); limits within -2^53 to 2^53. Since 0.1. */
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
 * Sets how many Bayesian trials are proposed from the same scores, in order to be trained at the same time: a
 * batch. Each proposal of a batch counts on the earlier ones to score what the Gaussian process expects of them
 * (Ginsbourger, Le Riche, Carraro 2010, Kriging is well-suited to parallelize optimization). It changes which
 * values are tried, so it is fixed before the first trial. Of random trials, which need no
 * scores, as many are trained at the same time as there are workers for. Since 0.2.
 * @param search          a search without trials
 * @param parallel_trials 1 (the default) to 1000
 */
BDL_API bdl_status bdl_search_set_parallel_trials(bdl_search* search, int64_t parallel_trials);

/**
 * Sets how many threads train the folds of trials in later runs, the calling thread among them.
 * Results do not depend on it. Each worker trains on one thread, and holds a model, a
 * posterior and an optimizer's memory (bdl_optimizer_memory()) of its own. A Bayesian trial has work for K
 * workers, a batch of B for K B. A user model has one worker, the thread of bdl_search_run(), whatever is set:
 * its callbacks need not be safe to call from several threads. Since 0.2.
 * @param search  a search
 * @param workers 1 to 256; 0, the default: as option "threads" of the prototype says
 */
BDL_API bdl_status bdl_search_set_workers(bdl_search* search, int64_t workers);

/**
 * Makes bdl_search_run() a collective call (bdl/communicator.h): all ranks make it, with the same
 * arguments and data, on searches that are the same in everything but workers. The folds of each batch are
 * dealt to the ranks in turn, and all ranks end with the same trials, whatever their number. Random trials
 * come in batches, too: as many as give all ranks the same number of folds, at least parallel_trials.
 * Progress is reported on rank 0. If ranks differ, all of them fail and name the difference; if one rank
 * fails, it has its own error, and the others have BDL_ERROR_PEER; the trials kept are the same on all. A stop
 * on any rank is BDL_STOPPED on all, when the others have trained their folds of the batch. A communicator that
 * gives up after a while must wait for as long as a batch may take. Any method can be searched so: each
 * fold is trained by one rank alone. Since 0.2.
 * @param search       a search
 * @param communicator the ranks; NULL to search alone again
 */
BDL_API bdl_status bdl_search_set_communicator(bdl_search* search, bdl_communicator* communicator);

/**
 * Progress of bdl_search_run(), called on its thread after every trial, in their order. It may read the search,
 * but not change it, and call bdl_search_request_stop(). Other workers go on meanwhile; what they have not
 * completed then is lost where the run stops.
 * @return 0 to go on; positive: bdl_search_run() returns BDL_STOPPED, unless it was the last trial; negative:
 *         BDL_ERROR_CALLBACK. Either way the trials are kept
 */
typedef int32_t (*bdl_search_progress_fn)(void* user_data, const bdl_search* search);

/**
 * Adds trials: first some at random, uniformly over the ranges, then some by Bayesian optimisation: a
 * Gaussian process with a Matern 5/2 covariance is fitted to the scores so far, and the values of the
 * greatest expected improvement are tried (Snoek et al. 2012, Practical Bayesian optimization of machine
 * learning algorithms). As long as fewer than two trials have a score, those are at random too. Values that
 * were tried before are not trained again. Running again adds to the same search: after a stop, run what is
 * missing.
 *
 * A trial that fails (divergence, options that do not go together, a callback of a user model) has a message
 * in place of a score, and the search goes on. A search without ranges has one trial, at random: the
 * cross-validation of the prototype's own options. Since 0.1.
 * @param search          a search
 * @param x               n x inputs, n >= folds; in every run of a search the same data
 * @param y               n x targets
 * @param random_trials   0 to 1e6
 * @param bayesian_trials 0 to 1e6; each costs O(k^3) for k trials so far, beside the training
 * @param progress        may be NULL
 * @param user_data       handed to progress
 * @return BDL_OK, BDL_STOPPED, or an error; the trials that were reported as completed are kept
 */
BDL_API bdl_status bdl_search_run(bdl_search* search, bdl_matrix x, bdl_matrix y, int64_t random_trials,
                                  int64_t bayesian_trials, bdl_search_progress_fn progress, void* user_data);

/**
 * Asks a running search, or the next one, to return BDL_STOPPED: a trial in training ends after its current
 * steps and is not kept. Any thread or signal handler may call it. Since 0.1.
 */
BDL_API void bdl_search_request_stop(bdl_search* search);

/** Number of trials, failed ones included; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_search_trial_count(const bdl_search* search);

/**
 * Reads a trial's values and result. Any out-pointer may be NULL. Since 0.1.
 * @param search         a search
 * @param trial          0 to bdl_search_trial_count() - 1, in the order of the trials
 * @param values         receives 1 x R, one value for each of the R ranges in the order in which they were
 *                       added; of a choice, the number of its word among those given, from 0. May be
 *                       bdl_none_out()
 * @param score          receives the mean over the folds of the mean log predictive density, in nats per row;
 *                       NaN if the trial failed
 * @param standard_error receives that of the score, from the folds' differences; NaN likewise
 * @param message        receives why the trial failed, beginning with the fold; "" if it did not. Valid until
 *                       the next bdl_search_run() or bdl_search_free()
 */
BDL_API bdl_status bdl_search_trial(const bdl_search* search, int64_t trial, bdl_matrix_out values,
                                    double* score, double* standard_error, const char** message);

/** Finds the trial with the highest score; BDL_ERROR_UNSUPPORTED if no trial has one. Since 0.1. */
BDL_API bdl_status bdl_search_best(const bdl_search* search, int64_t* trial);

/**
 * Sets the varied options of an optimizer to a trial's values: all, or on an error none. Since 0.1.
 * @param search    a search
 * @param trial     0 to bdl_search_trial_count() - 1
 * @param optimizer any optimizer, of either dtype. Where the prior was searched, one fixed by
 *                  bdl_optimizer_set_prior() ends
 */
BDL_API bdl_status bdl_search_apply(const bdl_search* search, int64_t trial, bdl_optimizer* optimizer);

/**
 * Says which fold each row is in, to repeat a trial or to score it otherwise: fold k was left out of the training
 * on folds k values are tried, so it is fixed before the first trial. Of random trials, which need no1, ..., K - 1,
 * 0, ..., k - 1, in this order and within a fold in the order of the rows. Since 0.1.
 * @param search a search
 * @param fold   receives n x 1: numbers 0 to K - 1; n is the number of rows of x, >= K
 */
BDL_API bdl_status bdl_search_folds(const bdl_search* search, bdl_matrix_out fold);

#ifdef __cplusplus
}
#endif

#endif
