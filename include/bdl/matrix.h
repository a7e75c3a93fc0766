/**
 * @file matrix.h
 * The one view through which arrays cross the boundary. One example per row.
 */
#ifndef BDL_MATRIX_H
#define BDL_MATRIX_H

#include <stddef.h>
#include <stdint.h>

/** Element types. Models and posteriors compute in BDL_F32 or BDL_F64. */
typedef enum bdl_dtype {
  BDL_F32 = 1, /**< float */
  BDL_F64 = 2, /**< double */
  BDL_I32 = 3  /**< int32_t, for labels and counts */
} bdl_dtype;

/**
 * A strided matrix the caller owns: element (i, j) is data[i * row_stride + j * col_stride], strides
 * counted in elements (they may be negative or zero for inputs). Its layout is frozen for ever.
 */
typedef struct bdl_matrix {
  void* data;         /**< first element; NULL only in bdl_none() and for empty matrices */
  int32_t dtype;      /**< a bdl_dtype */
  int32_t reserved;   /**< 0 */
  int64_t rows;       /**< number of rows (examples) */
  int64_t cols;       /**< number of columns (features, outputs, parameters) */
  int64_t row_stride; /**< elements between (i, j) and (i + 1, j) */
  int64_t col_stride; /**< elements between (i, j) and (i, j + 1) */
} bdl_matrix;

/**
 * A bdl_matrix that a function writes to: on success only, and never with overlapping elements. bdl_none()
 * where the output is not wanted.
 */
typedef bdl_matrix bdl_matrix_out;

/** Any layout. `data` is written only where a function says that the argument is an output. */
static inline bdl_matrix bdl_strided(const void* data, bdl_dtype dtype, int64_t rows, int64_t cols,
                                     int64_t row_stride, int64_t col_stride) {
  bdl_matrix view;
  view.data = (void*)data;
  view.dtype = (int32_t)dtype;
  view.reserved = 0;
  view.rows = rows;
  view.cols = cols;
  view.row_stride = row_stride;
  view.col_stride = col_stride;
  return view;
}

/** Row-major doubles (C, NumPy). */
static inline bdl_matrix bdl_f64(const double* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_F64, rows, cols, cols, 1);
}

/** Row-major floats. */
static inline bdl_matrix bdl_f32(const float* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_F32, rows, cols, cols, 1);
}

/** Row-major 32-bit integers: labels and counts. */
static inline bdl_matrix bdl_i32(const int32_t* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_I32, rows, cols, cols, 1);
}

/** Column-major matrix (Fortran, R, Julia) of any element type. */
static inline bdl_matrix bdl_column_major(const void* data, bdl_dtype dtype, int64_t rows, int64_t cols) {
  return bdl_strided(data, dtype, rows, cols, 1, rows);
}

/** No matrix: an output that is not wanted, an input that is not given. */
static inline bdl_matrix bdl_none(void) {
  return bdl_strided(NULL, BDL_F64, 0, 0, 0, 0);
}

#endif
