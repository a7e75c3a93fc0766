/**
 * @file dataset.h
 * Data that need not fit in memory: rows by number, from arrays, mapped files or a callback.
 *
 *     bdl_dataset* data;
 *     bdl_dataset_from_npy("x.npy", "y.npy", &data); // or _safetensors, _callback, _arrays
 *     bdl_model_standardize_dataset(model, data);    // one pass
 *     bdl_optimizer_fit_dataset(optimizer, data, 1, NULL, NULL);
 *     bdl_dataset_free(data);
 *
 * Memory holds only minibatches and the order of an epoch: 8 bytes a row up to 2^24 rows, and nothing for
 * more rows, where each place in the order is computed when it is needed. The library checks rows when it
 * reads them. If the rows of a step hold NaN, infinity or a target that the likelihood does not have, the
 * step is not taken and the message names the row. docs/how-to/large-data.md has examples.
 *
 * The caller that creates a data set must free it; no handle keeps it after a call. Calls that read rows
 * need it exclusively: progress callbacks may read it between steps, but its own read callback may not.
 */
#ifndef BDL_DATASET_H
#define BDL_DATASET_H

#include "bdl/model.h"
#include "bdl/optimizer.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rows of x and y, by their numbers. */
typedef struct bdl_dataset bdl_dataset;

/**
 * Makes a data set of arrays, which are not copied: their memory must stay unchanged until
 * bdl_dataset_free(). Memory that you have mapped is allowed. Values are checked when they are read. Since
 * 0.2.
 * @param x       n x inputs, any layout
 * @param y       n x targets, any layout; bdl_none(): inputs only, for bdl_dataset_read()
 * @param dataset receives the handle; free it with bdl_dataset_free()
 */
BDL_API bdl_status bdl_dataset_from_arrays(bdl_matrix x, bdl_matrix y, bdl_dataset** dataset);

/**
 * Callback: writes rows of a data set, row rows[i] into row i of x and y. It is called on the thread of the
 * call that wants the rows, with 1 to 4096 row numbers in any order, perhaps with repetitions. It must
 * always write the same numbers for a row. It may explain a failure by bdl_set_callback_message().
 * @param user_data as given to bdl_dataset_from_callback()
 * @param rows      count numbers from 0 to n - 1
 * @param count     number of rows wanted
 * @param x         count x inputs, doubles, row-major without gaps: x.data[i * inputs + j]
 * @param y         count x targets, in the same layout. The data of x or y is NULL if it is not wanted
 * @return 0; any other value makes the call in progress fail with BDL_ERROR_CALLBACK. An element that was
 *         left unwritten makes it fail with BDL_ERROR_NOT_FINITE
 */
typedef int32_t (*bdl_read_fn)(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                               bdl_matrix_out y);

/**
 * Makes a data set whose rows a callback reads, computes or fetches from elsewhere. Since 0.2.
 * @param rows      n, 1 to 2^52
 * @param inputs    columns of x, at least 1
 * @param targets   columns of y; 0: inputs only, for bdl_dataset_read()
 * @param read      writes rows
 * @param user_data passed to read
 * @param destroy   called once with user_data when the data set is freed, and not if this call fails; may
 *                  be NULL
 * @param dataset   receives the handle; free it with bdl_dataset_free()
 */
BDL_API bdl_status bdl_dataset_from_callback(int64_t rows, int64_t inputs, int64_t targets, bdl_read_fn read,
                                             void* user_data, void (*destroy)(void* user_data),
                                             bdl_dataset** dataset);

/**
 * Makes a data set of NumPy's files (.npy), which are mapped instead of read: the operating system loads
 * and drops pages as needed, so they may be larger than memory. Elements are floating-point numbers (f2,
 * f4, f8), integers (i1 to i8, u1 to u8) or truth values (b1), in either byte order, in C or Fortran order.
 * Types that bdl_dtype lacks are converted row by row when they are read; integers beyond 2^53 are rounded
 * to doubles. One dimension is one column; of three or more, in C order, all but the first are columns
 * (images). The files must keep their size until bdl_dataset_free(). A file that has become shorter is
 * noticed when rows are read (BDL_ERROR_FILE), but a file that another process shortens during the reading
 * ends this process (SIGBUS), as with any mapped file. Since 0.2.
 * @param x_path  file of n x inputs
 * @param y_path  file of n x targets; NULL: inputs only, for bdl_dataset_read()
 * @param dataset receives the handle; free it with bdl_dataset_free()
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_FORMAT for other kinds of files, BDL_ERROR_SHAPE if x and y
 *         have different numbers of rows
 */
BDL_API bdl_status bdl_dataset_from_npy(const char* x_path, const char* y_path, bdl_dataset** dataset);

/**
 * Makes a data set as bdl_dataset_from_npy() does, of two tensors of a safetensors file, with types F64,
 * F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 or BOOL. The tensors may begin at any byte, and
 * other tensors in the file may have any type. Since 0.2.
 * @param path    the file
 * @param x_name  name of the tensor of n x inputs
 * @param y_name  name of the tensor of n x targets; NULL: inputs only, for bdl_dataset_read()
 * @param dataset receives the handle; free it with bdl_dataset_free()
 */
BDL_API bdl_status bdl_dataset_from_safetensors(const char* path, const char* x_name, const char* y_name,
                                                bdl_dataset** dataset);

/** Frees the handle. NULL is allowed. Since 0.2. */
BDL_API void bdl_dataset_free(bdl_dataset* dataset);

/** Returns the number of rows; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_dataset_rows(const bdl_dataset* dataset);

/** Returns the number of columns of x; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_dataset_inputs(const bdl_dataset* dataset);

/** Returns the number of columns of y; 0 for NULL and without y. Since 0.2. */
BDL_API int64_t bdl_dataset_targets(const bdl_dataset* dataset);

/**
 * Sets blocks, for sources that read neighbouring rows quickly and scattered rows slowly, as disks,
 * networks and row groups of Parquet files do. An epoch of bdl_optimizer_fit_dataset() then takes the
 * blocks of consecutive rows in random order, and shuffles the rows of `window` blocks at a time. So
 * minibatches come from one window, or from two if a window ends within a minibatch, and a source that
 * keeps the last `window` blocks reads each block once an epoch. A larger window shuffles better. Since
 * 0.2.
 * @param dataset       a data set
 * @param rows_in_block rows of a block, the last of which may be shorter; 0: no blocks, all rows are
 *                      shuffled, as in a new data set
 * @param window        blocks whose rows are shuffled together, at least 1; not used without blocks
 */
BDL_API bdl_status bdl_dataset_set_block(bdl_dataset* dataset, int64_t rows_in_block, int64_t window);

/**
 * Reads rows without standardisation, for predictions and metrics in chunks. Since 0.2.
 * @param dataset a data set
 * @param rows    count row numbers
 * @param count   number of rows wanted, >= 1
 * @param x       receives count x inputs; bdl_none_out(): not wanted
 * @param y       receives count x targets; bdl_none_out(): not wanted
 */
BDL_API bdl_status bdl_dataset_read(bdl_dataset* dataset, const int64_t* rows, int64_t count,
                                    bdl_matrix_out x, bdl_matrix_out y);

/**
 * Finds the ranges of the targets in one pass over y. The largest class number plus 1 is the number of
 * classes. Since 0.2.
 * @param dataset  a data set with targets
 * @param smallest receives 1 x targets, the smallest number of each column; bdl_none_out(): not wanted
 * @param largest  receives 1 x targets, the largest number; bdl_none_out(): not wanted
 * @return BDL_OK, or BDL_ERROR_NOT_FINITE naming the row
 */
BDL_API bdl_status bdl_dataset_target_range(bdl_dataset* dataset, bdl_matrix_out smallest,
                                            bdl_matrix_out largest);

/**
 * Standardises as bdl_model_standardize() does, with the same moments up to rounding, in one pass over the
 * data set, or in two for BDL_STUDENT_T. Targets of real numbers are standardised too, unless the data set
 * has none. Since 0.2.
 * @param model   a network
 * @param dataset data set with the model's inputs and, if any, targets
 */
BDL_API bdl_status bdl_model_standardize_dataset(bdl_model* model, bdl_dataset* dataset);

/**
 * Sets the start of the noise as bdl_optimizer_start_noise() does, in one pass over the targets of a data
 * set, none of which may be missing. Since 0.2.
 * @param optimizer an optimizer with a model
 * @param dataset   data set with the model's inputs and targets
 */
BDL_API bdl_status bdl_optimizer_start_noise_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset);

/**
 * Trains as bdl_optimizer_fit() on arrays of these rows does, with identical results; blocks
 * (bdl_dataset_set_block()) change the order. Before the first step, the targets of likelihoods with a
 * noise precision are read once for its start, unless the noise was set or is not learned. Laplace's
 * approximation (option "laplace") reads the data several times at the end. The methods "exact-*" read all
 * rows in their order in each iteration, a part at a time, with at most 2^18 numbers or D rows in memory;
 * smaller data are read once. Since 0.2.
 *
 * With a communicator (bdl_optimizer_set_communicator()), each process passes its own data set of the same
 * rows, and reads only the rows of its shards. If rows cannot be read in one process, it returns its own
 * error and the others return BDL_ERROR_PEER. Each shard has its own blocks.
 * @param optimizer an optimizer with a model
 * @param dataset   data set with the model's inputs and targets
 * @param epochs    as for bdl_optimizer_fit(); 0 finishes an interrupted fit
 * @param progress  may be NULL
 * @param user_data passed to progress
 * @return as bdl_optimizer_fit(). BDL_ERROR_NOT_FINITE or BDL_ERROR_LABEL naming the row, and
 *         BDL_ERROR_CALLBACK or BDL_ERROR_FILE if rows could not be read: everything is as after the last
 *         step, and a fit of 0 epochs continues from there. BDL_ERROR_UNSUPPORTED for blocks with option
 *         "sampling" = "replacement"
 */
BDL_API bdl_status bdl_optimizer_fit_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset, int64_t epochs,
                                             bdl_progress_fn progress, void* user_data);

/**
 * Computes Laplace's approximation as bdl_optimizer_laplace() does, on a data set. Since 0.2.
 * @param optimizer as for bdl_optimizer_laplace()
 * @param dataset   data set with the model's inputs and targets
 */
BDL_API bdl_status bdl_optimizer_laplace_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset);

/**
 * Computes the ELBO's two terms as bdl_optimizer_elbo() does, on a data set: the expectation is summed over
 * chunks of 1024 rows, under the same posterior samples. Since 0.2.
 * @param optimizer               an optimizer with a model
 * @param dataset                 data set with the model's inputs and targets
 * @param samples                 as for bdl_optimizer_elbo()
 * @param seed                    as for bdl_optimizer_elbo()
 * @param expected_log_likelihood as for bdl_optimizer_elbo()
 * @param kl                      as for bdl_optimizer_elbo()
 */
BDL_API bdl_status bdl_optimizer_elbo_dataset(const bdl_optimizer* optimizer, bdl_dataset* dataset,
                                              int64_t samples, uint64_t seed, double* expected_log_likelihood,
                                              double* kl);

#ifdef __cplusplus
}
#endif

#endif
