/**
 * @file bdl.h
 * libbdl: approximate Bayesian deep learning behind a C ABI. Include this header only.
 *
 * Three handles and a table of methods:
 *
 *   bdl_model      what is learned: a network f(x; theta) with a likelihood p(y | f)
 *   bdl_posterior  what is believed: a Gaussian q(theta), sampled, compared, saved
 *   bdl_optimizer  how belief changes: a method with its options and schedules
 *
 * and a bdl_search, which finds values for options by cross-validation.
 *
 * The whole of it, in outline (examples/quickstart.c is the program, with real data and checks):
 *
 *   int64_t sizes[] = {6, 50, 1};                       // inputs, hidden units, outputs
 *   bdl_model *model; bdl_posterior *q; bdl_optimizer *opt;
 *   bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model);
 *   bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 5, &q);
 *   bdl_optimizer_create(model, q, "slang-ggn", n, &opt);
 *   bdl_model_standardize(model, bdl_f64(x, n, 6), bdl_f64(y, n, 1)); // all else stays in your units
 *   bdl_optimizer_fit(opt, bdl_f64(x, n, 6), bdl_f64(y, n, 1), 120, NULL, NULL);
 *   bdl_predict(model, q, bdl_f64(x_new, m, 6), BDL_MONTE_CARLO, 500, 1,
 *               bdl_f64(mean, m, 1), bdl_f64(epistemic, m, 1), bdl_f64(noise, m, 1));
 *   bdl_optimizer_free(opt); bdl_posterior_free(q); bdl_model_free(model);
 *
 * Conventions that hold for every function:
 *  - Fallible functions return bdl_status. A failed call changes nothing (but training that ran
 *    away goes back to its last good state), writes no out-parameter, and explains itself in
 *    bdl_last_error(): function, argument, what was given, what was expected.
 *  - Threads: distinct handles are independent. Calls that take a handle as `const` may run
 *    concurrently on it; others need it exclusively. An optimizer's steps change its posterior and
 *    its model's noise precision, so those two must not be read while a step runs.
 *  - Arrays are views (bdl_matrix), one example per row, any strides, f32 or f64; labels also i32.
 *    No pointer to the caller's memory is kept after a call returns.
 *  - Randomness comes from explicit seeds: same build, machine type and thread count, same bits.
 *  - Handles are owned by who created them; free(NULL) is fine. An optimizer keeps its model and
 *    posterior alive, so handles may be freed in any order.
 *  - The library prints nothing, never exits, and lets no C++ exception escape.
 */
#ifndef BDL_BDL_H
#define BDL_BDL_H

#include "bdl/checkpoint.h"
#include "bdl/interrupt.h"
#include "bdl/matrix.h"
#include "bdl/metrics.h"
#include "bdl/model.h"
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
 * Version of the library at run time, as "0.1.0"; BDL_VERSION_STRING is the one compiled against.
 * The string is static. Since 0.1.
 */
BDL_API const char* bdl_version(void);

/**
 * How the library was built and which BLAS answers in this process, as one line of text, for
 * bug reports and benchmarks. The string is static. Since 0.1.
 */
BDL_API const char* bdl_build_info(void);

#ifdef __cplusplus
}
#endif

#endif
