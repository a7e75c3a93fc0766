/**
 * @file bdl.h
 * libbdl: approximate Bayesian deep learning behind a C ABI. Include this header only.
 *
 * Three handles do most of the work:
 *
 * - `bdl_model`: a network f(x; theta) with a likelihood p(y | f),
 * - `bdl_posterior`: a Gaussian q(theta), which you can sample, compare and save,
 * - `bdl_optimizer`: a method that learns the posterior, with its options and schedules.
 *
 * A `bdl_search` finds values for options by cross-validation, a `bdl_predictor` answers many small
 * predictions quickly, and a `bdl_dataset` takes the place of arrays that do not fit in memory.
 *
 * An outline of a program follows; examples/quickstart.c is the whole program, with real data and checks.
 *
 *     if (BDL_CHECK_VERSION() != BDL_OK) return 1;        // the library fits these headers
 *     int64_t sizes[] = {6, 50, 1};                       // inputs, hidden units, outputs
 *     bdl_model *model; bdl_posterior *q; bdl_optimizer *opt;
 *     bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model);
 *     bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 5, &q);
 *     bdl_optimizer_create(model, q, "slang", n, &opt);
 *     bdl_model_standardize(model, bdl_f64(x, n, 6), bdl_f64(y, n, 1)); // all else stays in your units
 *     bdl_optimizer_fit(opt, bdl_f64(x, n, 6), bdl_f64(y, n, 1), 120, NULL, NULL);
 *     bdl_predict(model, q, bdl_f64(x_new, m, 6), BDL_MONTE_CARLO, 500, 1,
 *                 bdl_f64_out(mean, m, 1), bdl_f64_out(epistemic, m, 1), bdl_f64_out(noise, m, 1));
 *     bdl_optimizer_free(opt); bdl_posterior_free(q); bdl_model_free(model);
 *
 * ## Conventions of all functions
 *
 * - **Errors.** A function that can fail returns a bdl_status. A failed call changes nothing, except that
 *   training that has diverged returns to its last good state. A failed call writes no out-parameter unless
 *   its comment allows it. bdl_last_error() names the function and the argument, what was given and what was
 *   expected. Comments of functions leave out the errors that have the same meaning everywhere:
 *   - `BDL_ERROR_INVALID_ARGUMENT`: an argument is NULL, or a number is out of range;
 *   - `BDL_ERROR_SHAPE`: an array has another size or type, or handles do not fit together;
 *   - `BDL_ERROR_NOT_FINITE`: an input holds NaN or infinity;
 *   - `BDL_ERROR_LABEL`: the likelihood does not have such a target;
 *   - `BDL_ERROR_UNSUPPORTED`: a handle is not of the kind that the comment asks for;
 *   - `BDL_ERROR_DIVERGED`: a result would not be finite;
 *   - `BDL_ERROR_CALLBACK`: a function of the caller has failed;
 *   - `BDL_ERROR_OUT_OF_MEMORY`: there is not enough memory;
 *   - `BDL_STOPPED`: a long call was interrupted (bdl_set_interrupt()).
 * - **Results.** BDL_OK means that results are finite, unless the comment of the function names exceptions.
 *   A result that overflows, or a double that a float output cannot hold, is BDL_ERROR_DIVERGED.
 * - **Names.** A property that can be set and read has bdl_X_set_Y and bdl_X_get_Y. Other functions
 *   that read are nouns without get, as bdl_posterior_mean(). bdl_X_Y_count() returns the number of
 *   things of one kind, and their indices begin at 0.
 * - **Ownership.** You own the handles that you create, and free each with the free function of its type;
 *   freeing NULL is allowed. An optimizer keeps its model and posterior alive, so you may free handles in
 *   any order.
 * - **Threads.** Distinct handles are independent. Calls that take a handle as `const` may run concurrently
 *   on that handle; other calls need the handle exclusively. The steps of an optimizer change its
 *   posterior, and the noise precision, limits and scales of constant targets of its model, so no other
 *   thread may read posterior or model while a step runs.
 * - **Arrays** are views with one example a row and any strides. A bdl_matrix is read; its elements are
 *   f32, f64, i32 (labels) or u8 (images). A bdl_matrix_out is written; its elements are f32 or f64. The
 *   library keeps no pointer to your memory after a call returns, except in a bdl_dataset of arrays.
 * - **Randomness** comes from explicit seeds. The same build on the same type of machine gives identical
 *   results, whatever the number of threads.
 * - **Callbacks** may call the library, but may not change a handle that their own call uses. Such a change
 *   returns BDL_ERROR_INVALID_ARGUMENT, with "in use" in the message, as does a change by another thread
 *   while a call changes the same handle. Training also uses the posterior, the model and the communicator
 *   of its optimizer: a callback may read them, and may ask training to stop. A progress callback reads
 *   everything as it is after the last step. The other callbacks of training run within a step, which may
 *   have changed a part of what they read. An interrupt callback that reads what its call is computing gets
 *   the same error. A handle that a callback of its own call frees lives until that call returns.
 * - **Exceptions.** A callback in C++ may throw: its call fails as if the callback had reported failure,
 *   and bdl_last_error() ends with the exception's what(). Only exceptions of a `destroy` function are
 *   dropped.
 * - **Your process.** The library prints nothing, never ends the process, and lets no C++ exception escape.
 *   It computes in the default floating-point environment (no traps, rounding to nearest, subnormal numbers
 *   kept), whatever the program has set. Callbacks run in the default environment too, and the program's
 *   environment is back when a call returns. If the system refuses a thread, the call only takes longer.
 *   Another thread may fork while a call runs, and the child may call the library.
 *
 * ## Experimental functions
 *
 * These functions may change in the next minor version before 1.0. All other functions keep their name,
 * arguments and meaning; a later version may add to them.
 *
 * - bdl_training_suggest(), bdl_method_prediction(), bdl_noise_suggest(), bdl_default_count(),
 *   bdl_default_describe() and bdl_optimizer_start_noise(): the defaults of the estimators, and how the
 *   estimators ask for them;
 * - bdl_optimizer_diagnose() and bdl_optimizer_diagnose_answers(): the checks, their limits and their
 *   sentences;
 * - bdl_optimizer_set_draws(): the arguments of the callback bdl_draws_fn;
 * - bdl_search_run(): the values that it tries, and so the trials of a seed;
 * - bdl_posterior_tensor_describe(): the names of the tensors of a family;
 * - bdl_option_describe() and bdl_method_describe(): the defaults of options and methods;
 * - bdl_method_standing(): which methods are baselines, and the sentences.
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
 * Returns the version of the library at run time, such as "0.4.0". BDL_VERSION_STRING is the version that
 * the program was compiled with. The string is static. Since 0.1.
 */
BDL_API const char* bdl_version(void);

/**
 * Checks that a program compiled with the headers of this version may use the library. Returns BDL_OK, or
 * BDL_ERROR_UNSUPPORTED if the library is older than the headers, or if the headers are older than the
 * first version with the library's SONAME (docs/developers/abi.md). Programs call it by
 * BDL_CHECK_VERSION(), before any other function. Since 0.2.
 * @param major BDL_VERSION_MAJOR
 * @param minor BDL_VERSION_MINOR
 * @param patch BDL_VERSION_PATCH
 */
BDL_API bdl_status bdl_check_version(int32_t major, int32_t minor, int32_t patch);

/** Checks the headers that the caller is compiled with, by bdl_check_version(). */
#define BDL_CHECK_VERSION() bdl_check_version(BDL_VERSION_MAJOR, BDL_VERSION_MINOR, BDL_VERSION_PATCH)

/**
 * Describes how the library was built and which BLAS this process uses, in one line of text, for bug
 * reports and benchmarks. The string is static. Since 0.1.
 */
BDL_API const char* bdl_build_info(void);

#ifdef __cplusplus
}
#endif

#endif
