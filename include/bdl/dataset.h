/**
 * @file dataset.h
 * Data that need not fit in memory: rows by number, from arrays, mapped files or a callback.
 *
 *   bdl_dataset* data;
 *   bdl_dataset_from_npy("x.npy", "y.npy", &data);       // or _from_safetensors, _from_callback, _from_arrays
 *   bdl_model_standardize_dataset(model, data);           // one pass
 *   bdl_optimizer_fit_dataset(optimizer, data, 1, NULL, NULL);
 *   bdl_dataset_free(data);
 *
 * Only minibatches are held in memory, and the order of an epoch: 8 bytes a row up to 2^24 rows, nothing
 * above, where each place in the order is computed when it is needed. What is read is checked then: a step
 * whose rows hold NaN, infinity or a target that the likelihood does not have fails, names the row, and is
 * not taken. docs/how-to/large-data.md has examples.
 *
 * The caller that creates a data set must free it; no handle keeps it after a call. Calls that read rows need it
 * exclusively: progress callbacks may read it between steps, but its own read callback may not.
 */
#ifndef BDL_DATASET_H
#define BDL_DATASET_H

#include "bdl/model.h"
#include "bdl/optimizer.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bdl_dataset bdl_dataset;

/**
 * Makes a data set of arrays, which are not copied: their memory must stay, unchanged, until bdl_dataset_free().
 * Memory that you have mapped is fine. Values are checked when they are read. Since 0.2.
 * @param x       n x inputs, any layout
 * @param y       n x targets, any layout; bdl_none(): inputs only, for bdl_dataset_read()
 * @param dataset receives the handle; free with bdl_dataset_free()
 */
BDL_API bdl_status bdl_dataset_from_arrays(bdl_matrix x, bdl_matrix y, bdl_dataset** dataset);

/**
 * Writes rows of a data set: row rows[i] into row i of x and y. It is called on the thread of the call that
 * wants them, with 1 to 4096 rows in any order, the same row perhaps twice, and must write the same numbers
 * whenever it is asked for a row. It may say why it failed by bdl_set_callback_message().
 * @param user_data as given to bdl_dataset_from_callback()
 * @param rows      count numbers from 0 to n - 1
 * @param count     how many rows
 * @param x         count x inputs, doubles, row-major without gaps: x.data[i * inputs + j]
 * @param y         count x targets likewise. Either has NULL data where it is not wanted
 * @return 0; any other value fails the call in progress with BDL_ERROR_CALLBACK. So does an element that was
 *         left unwritten, with BDL_ERROR_NOT_FINITE
 */
typedef int32_t (*bdl_read_fn)(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                               bdl_matrix_out y);

/**
 * Makes a data set whose rows a callback reads, computes or fetches from elsewhere. Since 0.2.
 * @param rows      n, 1 to 2^52
 * @param inputs    columns of x, at least 1
 * @param targets   columns of y; 0: inputs only, for bdl_dataset_read()
 * @param read      writes rows
 * @param user_data handed to it
 * @param destroy   called once with user_data when the data set is freed, and not if this call fails; may be
 *                  NULL
 * @param dataset   receives the handle; free with bdl_dataset_free()
 */
BDL_API bdl_status bdl_dataset_from_callback(int64_t rows, int64_t inputs, int64_t targets, bdl_read_fn read,
                                             void* user_data, void (*destroy)(void* user_data),
                                             bdl_dataset** dataset);

/**
 * Maps NumPy's files (.npy) instead of reading them: the system loads and drops pages as needed, so they
 * may be larger than memory. Elements are floating-point numbers (f2, f4, f8), integers (i1 to i8, u1 to u8)
 * or truth values (b1), in either byte order, in C or Fortran order. Types that bdl_dtype lacks are
 * converted row by row when they are read; integers beyond 2^53 are rounded to doubles. One dimension is one
 * column; of three or more, in C order, all but the first are columns (images). The files must keep their
 * size until bdl_dataset_free(): one that has become shorter is noticed when rows are read (BDL_ERROR_FILE),
 * but one that another process shortens during the reading ends this process (SIGBUS), as with any mapped
 * file. Since 0.2.
 * @param x_path  n x inputs
 * @param y_path  n x targets; NULL: inputs only, for bdl_dataset_read()
 * @param dataset receives the handle; free with bdl_dataset_free()
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_FORMAT for what is no such file, BDL_ERROR_SHAPE where x and y
 *         have different numbers of rows
 */
BDL_API bdl_status bdl_dataset_from_npy(const char* x_path, const char* y_path, bdl_dataset** dataset);

/**
 * As bdl_dataset_from_npy(), from two tensors of a safetensors file, of types F64, F32, F16, BF16, I64, I32, I16,
 * I8, U64, U32, U16, U8 or BOOL. They may begin at any byte, and other tensors in the file may have any type. Since
 * 0.2.
 * @param path    the file
 * @param x_name  name of the tensor of n x inputs
 * @param y_name  name of the tensor of n x targets; NULL: inputs only, for bdl_dataset_read()
 * @param dataset receives the handle; free with bdl_dataset_free()
 */
BDL_API bdl_status bdl_dataset_from_safetensors(const char* path, const char* x_name, const char* y_name,
                                                bdl_dataset** dataset);

/** Frees the handle. NULL is fine. Since 0.2. */
BDL_API void bdl_dataset_free(bdl_dataset* dataset);

/** Rows of the data set; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_dataset_rows(const bdl_dataset* dataset);

/** Columns of x; 0 for NULL. Since 0.2. */
BDL_API int64_t bdl_dataset_inputs(const bdl_dataset* dataset);

/** Columns of y; 0 for NULL, and where there is no y. Since 0.2. */
BDL_API int64_t bdl_dataset_targets(const bdl_dataset* dataset);

/**
 * Sets blocks, for sources that read neighbouring rows quickly and scattered ones slowly, as disks, networks and
 * row groups of Parquet files do. An epoch of bdl_optimizer_fit_dataset() then takes the blocks of
 * consecutive rows in random order, and shuffles the rows of `window` blocks at a time. So minibatches come
 * from one window, or two if one ends within a minibatch, and a source that keeps the last `window` blocks reads
 * each block once an epoch. The larger the window, the better the shuffling. Since 0.2.
 * @param dataset       a data set
 * @param rows_in_block rows of a block, the last of which may be shorter; 0: no blocks, all rows are shuffled,
 *                      as at first
 * @param window        blocks whose rows are shuffled together, at least 1; not used without blocks
 */
BDL_API bdl_status bdl_dataset_set_block(bdl_dataset* dataset, int64_t rows_in_block, int64_t window);

/**
 * Reads rows without standardisation, for predictions and metrics in chunks. Since 0.2.
 * @param dataset a data set
 * @param rows    count row numbers
 * @param count   how many rows, >= 1
 * @param x       count x inputs; bdl_none_out(): not wanted
 * @param y       count x targets; bdl_none_out(): not wanted
 */
BDL_API bdl_status bdl_dataset_read(bdl_dataset* dataset, const int64_t* rows, int64_t count,
                                    bdl_matrix_out x, bdl_matrix_out y);

/**
 * Finds the ranges of the targets in one pass over y: the largest class number says how many classes
 * there are. Since 0.2.
 * @param dataset  a data set with targets
 * @param smallest receives 1 x targets, the smallest number of each column; bdl_none_out(): not wanted
 * @param largest  receives 1 x targets, the largest; bdl_none_out(): not wanted
 * @return BDL_OK, or BDL_ERROR_NOT_FINITE naming the row
 */
BDL_API bdl_status bdl_dataset_target_range(bdl_dataset* dataset, bdl_matrix_out smallest,
                                            bdl_matrix_out largest);

/**
 * As bdl_model_standardize(), with the same moments up to rounding, in one pass over the data set, or two for
 * BDL_STUDENT_T. Targets of real numbers are standardised too, unless the data set has none. Since 0.2.
 * @param model   a network
 * @param dataset of the model's inputs and, if any, targets
 */
BDL_API bdl_status bdl_model_standardize_dataset(bdl_model* model, bdl_dataset* dataset);

/**
 * As bdl_optimizer_start_noise(), in one pass over the targets of a data set, which may not be missing.
 * Since 0.2.
 * @param optimizer an optimizer with a model
 * @param dataset   of the model's inputs and targets
 */
BDL_API bdl_status bdl_optimizer_start_noise_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset);

/**
 * As bdl_optimizer_fit() on arrays of these rows, with identical results; blocks (bdl_dataset_set_block())
 * change the order. Before the first step the targets of likelihoods with a noise precision are read once,
 * for where it starts, unless it was set or is not learned. Laplace's approximation (option "laplace") reads
 * the data several times at the end. The methods "exact-*" read all rows in their order in each iteration, a
 * part at a time, with no more in memory than 2^18 numbers or D rows; what has no more is read once.
 *
 * With a communicator (bdl_optimizer_set_communicator()), each rank passes a data set of its own on the same
 * rows, and is asked only for rows of its shards. Where rows cannot be read on one rank, it has its own error
 * and the others BDL_ERROR_PEER. Each shard has blocks of its own. Since 0.2.
 * @param optimizer an optimizer with a model
 * @param dataset   of the model's inputs and targets
 * @param epochs    as for bdl_optimizer_fit(); 0 finishes an interrupted fit
 * @param progress  may be NULL
 * @param user_data handed to progress
 * @return as bdl_optimizer_fit(); BDL_ERROR_NOT_FINITE or BDL_ERROR_LABEL naming the row, BDL_ERROR_CALLBACK
 *         or BDL_ERROR_FILE where rows could not be read: everything is as after the last step, and 0 epochs
 *         go on from there. BDL_ERROR_UNSUPPORTED for blocks with option "sampling" = "replacement"
 */
BDL_API bdl_status bdl_optimizer_fit_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset, int64_t epochs,
                                             bdl_progress_fn progress, void* user_data);

/**
 * As bdl_optimizer_laplace(), on a data set. Since 0.2.
 */
BDL_API bdl_status bdl_optimizer_laplace_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset);

/**
 * As bdl_optimizer_elbo(), on a data set: the expectation is summed over chunks of 1024 rows, under the same
 * posterior samples. Since 0.2.
 */
BDL_API bdl_status bdl_optimizer_elbo_dataset(const bdl_optimizer* optimizer, bdl_dataset* dataset,
                                              int64_t samples, uint64_t seed, double* expected_log_likelihood,
                                              double* kl);

#ifdef __cplusplus
}
#endif

#endif
