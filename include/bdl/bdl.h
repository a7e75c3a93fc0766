/**
 * @file bdl.h
 * libbdl: approximate Bayesian deep learning behind a C ABI. Include this header only.
 *
 * Three handles and a table of methods:
 *
 *   bdl_model      a network f(x; theta) with a likelihood p(y | f)
 *   bdl_posterior  a Gaussian q(theta), which you can sample, compare and save
 *   bdl_optimizer  a method that learns the posterior, with its options and schedules
 *
 * and a bdl_search, which finds values for options by cross-validation, and a bdl_predictor, which answers
 * many small predictions quickly. A bdl_dataset stands in place of arrays that would not fit in memory.
 *
 * An outline of a program (examples/quickstart.c is the whole of it, with real data and checks):
 *
 *   if (BDL_CHECK_VERSION() != BDL_OK) return 1;        // the library fits these headers
 *   int64_t sizes[] = {6, 50, 1};                       // inputs, hidden units, outputs
 *   bdl_model *model; bdl_posterior *q; bdl_optimizer *opt;
 *   bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model);
 *   bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 5, &q);
 *   bdl_optimizer_create(model, q, "slang", n, &opt);
 *   bdl_model_standardize(model, bdl_f64(x, n, 6), bdl_f64(y, n, 1)); // all else stays in your units
 *   bdl_optimizer_fit(opt, bdl_f64(x, n, 6), bdl_f64(y, n, 1), 120, NULL, NULL);
 *   bdl_predict(model, q, bdl_f64(x_new, m, 6), BDL_MONTE_CARLO, 500, 1,
 *               bdl_f64_out(mean, m, 1), bdl_f64_out(epistemic, m, 1), bdl_f64_out(noise, m, 1));
 *   bdl_optimizer_free(opt); bdl_posterior_free(q); bdl_model_free(model);
 *
 * Conventions that hold for every function:
 *  - Fallible functions return bdl_status. A failed call changes nothing (but training that has
 *    diverged goes back to its last good state), writes no out-parameter unless its comment says so,
 *    and explains itself in bdl_last_error(): function, argument, what was given, what was expected.
 *    Comments leave out what is the same everywhere:
 *      BDL_ERROR_INVALID_ARGUMENT  NULL, or a number out of range
 *      BDL_ERROR_SHAPE             an array of another size or type; handles that do not fit together
 *      BDL_ERROR_NOT_FINITE        NaN or infinity in an input
 *      BDL_ERROR_LABEL             a target that the likelihood does not have
 *      BDL_ERROR_UNSUPPORTED       a handle that is not of the kind that the comment asks for
 *      BDL_ERROR_DIVERGED          a result that would not be finite
 *      BDL_ERROR_CALLBACK          a function of the caller's has failed
 *      BDL_ERROR_OUT_OF_MEMORY     no memory
 *      BDL_STOPPED                 a long call was interrupted (bdl_set_interrupt())
 *  - Names: a property that can be set and read again has bdl_X_set_Y and bdl_X_get_Y. Whatever else can
 *    be asked is a noun without get: bdl_posterior_mean(). What there are several of has a number,
 *    bdl_X_Y_count(), and an index from 0.
 *  - Threads: distinct handles are independent. Calls that take a handle as `const` may run
 *    concurrently on it; others need it exclusively. An optimizer's steps change its posterior and
 *    its model's noise precision, limits and scales of constant targets, so posterior and model must not be
 *    read by another thread while a step runs.
 *  - Callbacks may call the library, but not change a handle that their own call uses: that is
 *    BDL_ERROR_INVALID_ARGUMENT, with "in use" in the message, as is a change by another thread while a call
 *    changes the same handle. Training uses the posterior, the model and the communicator of its optimizer as
 *    well. They may read it, and ask training to stop. A progress callback reads everything as it is after the
 *    last step; the other callbacks of training run within a step, which may have changed a part of what they
 *    read. An interrupt callback that reads what its call is computing gets the same error. A handle that a
 *    callback of its own call frees lives until that call returns.
 *  - A callback in C++ may throw: its call fails as if it had reported failure, and bdl_last_error() ends with
 *    the exception's what(). Only what a `destroy` function throws is dropped.
 *  - Arrays are views, one example per row, any strides: bdl_matrix, which is read, of f32, f64, i32 (labels)
 *    or u8 (images), and bdl_matrix_out, which is written, of f32 or f64. No pointer to the caller's memory
 *    is kept after a call returns, except by a bdl_dataset of arrays.
 *  - Randomness comes from explicit seeds: the same build on the same type of machine gives identical
 *    results, whatever the number of threads.
 *  - Handles are owned by who created them; free(NULL) is fine. An optimizer keeps its model and
 *    posterior alive, so handles may be freed in any order.
 *  - BDL_OK means that results are finite, unless a comment says where they are not. A result that
 *    overflows, or is a double that a float output cannot hold, is BDL_ERROR_DIVERGED.
 *  - The library prints nothing, never exits, and lets no C++ exception escape. It computes in the default
 *    floating-point environment (no traps, rounding to nearest, subnormal numbers kept), whatever the host
 *    has set; callbacks run in it too, and the host's is back when a call returns. Threads that the system
 *    refuses cost time only. Another thread may fork while a call runs, and the child may call.
 *
 * Experimental, and perhaps other in the next minor version before 1.0 (all else keeps its name, arguments
 * and meaning; a later version may add to it):
 *
 *   functions                                         what may change
 *   ------------------------------------------------  ---------------------------------------------------
 *   bdl_training_suggest(), bdl_method_prediction(),  what estimators take where nothing is said, and how
 *   bdl_noise_suggest(), bdl_default_count(),         they ask for it
 *   bdl_default_describe(),
 *   bdl_optimizer_start_noise()
 *   bdl_optimizer_diagnose(),                         the questions, their limits, the sentences
 *   bdl_optimizer_diagnose_answers()
 *   bdl_optimizer_set_draws(), bdl_draws_fn           what a source of draws is told
 *   bdl_search_run()                                  which values it tries, so the trials of a seed
 *   bdl_posterior_tensor_describe()                   names of the tensors of a family
 *   bdl_option_describe(), bdl_method_describe()      defaults of options and methods
 *   bdl_method_standing()                             which methods are baselines, the sentences
 */
#ifndef BDL_BDL_H
#define BDL_BDL_H

#include "bdl/callback.h"
#include "bdl/checkpoint.h"
#include "bdl/communicator.h"
#include "bdl/dataset.h"
#include "bdl/interrupt.h"
#include "bdl/matrix.h"
#include "bdl/metrics.h"
#include "bdl/model.h"
#include "bdl/names.h"
#include "bdl/online.h"
#include "bdl/optimizer.h"
#include "bdl/posterior.h"
#include "bdl/predict.h"
#include "bdl/search.h"
#include "bdl/status.h"
#include "bdl/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Version of the library at run time, as "0.2.0"; BDL_VERSION_STRING is the one compiled against.
 * The string is static. Since 0.1.
 */
BDL_API const char* bdl_version(void);

/**
 * Checks that a program compiled with the headers of this version may use the library: returns BDL_OK, or
 * BDL_ERROR_UNSUPPORTED if the library is older than the headers, or the headers are older than the first of the
 * library's SONAME (docs/developers/abi.md). Programs ask with BDL_CHECK_VERSION(), before anything else. Since 0.2.
 */
BDL_API bdl_status bdl_check_version(int32_t major, int32_t minor, int32_t patch);

/* Checks the headers that the caller is compiled with. */
#define BDL_CHECK_VERSION() bdl_check_version(BDL_VERSION_MAJOR, BDL_VERSION_MINOR, BDL_VERSION_PATCH)

/**
 * Describes how the library was built and which BLAS this process uses, in one line of text, for
 * bug reports and benchmarks. The string is static. Since 0.1.
 */
BDL_API const char* bdl_build_info(void);

#ifdef __cplusplus
}
#endif

#endif
