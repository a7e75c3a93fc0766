/**
 * @file matrix.h
 * The one view through which arrays cross the boundary. One example per row.
 */
#ifndef BDL_MATRIX_H
#define BDL_MATRIX_H

#include <stddef.h>
#include <stdint.h>

/**
 * Element types. Functions read any of them, and convert the numbers that they need when they need them: a
 * data set is never copied. Models and posteriors compute in BDL_F32 or BDL_F64, and outputs are of these.
 */
typedef enum bdl_dtype {
  BDL_F32 = 1, /**< float */
  BDL_F64 = 2, /**< double */
  BDL_I32 = 3, /**< int32_t, for labels and counts */
  BDL_U8 = 4,  /**< uint8_t, for images: the numbers 0 to 255, unless a model standardises them */
  BDL_DTYPE_FORCE_INT32 = 0x7fffffff
} bdl_dtype;

/**
 * A strided matrix the caller owns and a function reads: element (i, j) is data[i * row_stride + j *
 * col_stride], strides counted in elements (they may be negative or zero). A view with an element outside the
 * address space is refused with BDL_ERROR_SHAPE. Its layout is frozen for ever.
 */
typedef struct bdl_matrix {
  const void* data;   /**< first element; NULL only in bdl_none() and for empty matrices */
  int32_t dtype;      /**< a bdl_dtype */
  int32_t reserved;   /**< 0 */
  int64_t rows;       /**< number of rows (examples) */
  int64_t cols;       /**< number of columns (features, outputs, parameters) */
  int64_t row_stride; /**< elements between (i, j) and (i + 1, j) */
  int64_t col_stride; /**< elements between (i, j) and (i, j + 1) */
} bdl_matrix;

/**
 * A matrix that a function writes to, on success only: float or double, and no two elements in the same
 * place. Outputs of one call must not overlap in memory, nor overlap one of its inputs, else BDL_ERROR_SHAPE;
 * interleaved views, such as columns of one buffer, are fine, and an output may be exactly the same view as an
 * input. Its layout is that of a bdl_matrix, but it is another type, so that constant memory and inputs
 * cannot be handed over as outputs by mistake.
 */
typedef struct bdl_matrix_out {
  void* data;         /**< first element; NULL only in bdl_none_out() and for empty matrices */
  int32_t dtype;      /**< BDL_F32 or BDL_F64 */
  int32_t reserved;   /**< 0 */
  int64_t rows;       /**< number of rows (examples) */
  int64_t cols;       /**< number of columns (features, outputs, parameters) */
  int64_t row_stride; /**< elements between (i, j) and (i + 1, j) */
  int64_t col_stride; /**< elements between (i, j) and (i, j + 1) */
} bdl_matrix_out;

/* Casts and null pointers that no C99 or C++11 compiler warns about; undefined again at the end of this file. */
#ifdef __cplusplus
#define BDL_INT32(value) static_cast<int32_t>(value)
#define BDL_NULL nullptr
#else
#define BDL_INT32(value) ((int32_t)(value))
#define BDL_NULL NULL
#endif

/** Any layout. */
static inline bdl_matrix bdl_strided(const void* data, bdl_dtype dtype, int64_t rows, int64_t cols,
                                     int64_t row_stride, int64_t col_stride) {
  bdl_matrix view;
  view.data = data;
  view.dtype = BDL_INT32(dtype);
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

/** Row-major bytes: images, one a row. */
static inline bdl_matrix bdl_u8(const uint8_t* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_U8, rows, cols, cols, 1);
}

/** Column-major matrix (Fortran, R, Julia) of any element type. */
static inline bdl_matrix bdl_column_major(const void* data, bdl_dtype dtype, int64_t rows, int64_t cols) {
  return bdl_strided(data, dtype, rows, cols, 1, rows);
}

/** No matrix: an input that is not given. */
static inline bdl_matrix bdl_none(void) {
  return bdl_strided(BDL_NULL, BDL_F64, 0, 0, 0, 0);
}

/** An output of any layout. */
static inline bdl_matrix_out bdl_strided_out(void* data, bdl_dtype dtype, int64_t rows, int64_t cols,
                                             int64_t row_stride, int64_t col_stride) {
  bdl_matrix_out view;
  view.data = data;
  view.dtype = BDL_INT32(dtype);
  view.reserved = 0;
  view.rows = rows;
  view.cols = cols;
  view.row_stride = row_stride;
  view.col_stride = col_stride;
  return view;
}

/** An output of row-major doubles. */
static inline bdl_matrix_out bdl_f64_out(double* data, int64_t rows, int64_t cols) {
  return bdl_strided_out(data, BDL_F64, rows, cols, cols, 1);
}

/** An output of row-major floats. */
static inline bdl_matrix_out bdl_f32_out(float* data, int64_t rows, int64_t cols) {
  return bdl_strided_out(data, BDL_F32, rows, cols, cols, 1);
}

/** A column-major output. */
static inline bdl_matrix_out bdl_column_major_out(void* data, bdl_dtype dtype, int64_t rows, int64_t cols) {
  return bdl_strided_out(data, dtype, rows, cols, 1, rows);
}

/** No matrix: an output that is not wanted. */
static inline bdl_matrix_out bdl_none_out(void) {
  return bdl_strided_out(BDL_NULL, BDL_F64, 0, 0, 0, 0);
}

/** An output as an input: what was written, for the next call. */
static inline bdl_matrix bdl_as_input(bdl_matrix_out out) {
  bdl_matrix view;
  view.data = out.data;
  view.dtype = out.dtype;
  view.reserved = 0;
  view.rows = out.rows;
  view.cols = out.cols;
  view.row_stride = out.row_stride;
  view.col_stride = out.col_stride;
  return view;
}

#undef BDL_INT32
#undef BDL_NULL

#endif
