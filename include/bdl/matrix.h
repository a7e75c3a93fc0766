/**
 * @file matrix.h
 * Arrays: the views by which all functions read and write numbers, with one example a row.
 */
#ifndef BDL_MATRIX_H
#define BDL_MATRIX_H

#include <stddef.h>
#include <stdint.h>

/**
 * Element types. Functions read any type, and convert only the numbers that they need, so a data set is
 * never copied. Models and posteriors compute in BDL_F32 or BDL_F64; outputs have one of these two types.
 */
typedef enum bdl_dtype {
  BDL_F32 = 1, /**< float */
  BDL_F64 = 2, /**< double */
  BDL_I32 = 3, /**< int32_t, for labels and counts */
  BDL_U8 = 4,  /**< uint8_t, for images: the numbers 0 to 255, unless a model standardises them */
  BDL_DTYPE_FORCE_INT32 = 0x7fffffff
} bdl_dtype;

/**
 * A strided matrix that the caller owns and a function reads. Element (i, j) is
 * data[i * row_stride + j * col_stride], with strides in elements (negative and zero ones are allowed). A
 * view with an element outside the address space returns BDL_ERROR_SHAPE. The layout of this struct will
 * never change.
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
 * A matrix that a function writes, on success only. Its elements are float or double, and no two of them
 * are in the same place. Outputs of one call must not overlap each other or an input, else the call returns
 * BDL_ERROR_SHAPE. Interleaved views, such as columns of one buffer, are allowed, and an output may be
 * exactly the same view as an input. The layout is that of a bdl_matrix, but the type differs, so the
 * compiler refuses constant memory and inputs as outputs.
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

/**
 * Makes a view of any layout.
 * @param data       first element
 * @param dtype      type of the elements
 * @param rows       number of rows
 * @param cols       number of columns
 * @param row_stride elements between (i, j) and (i + 1, j)
 * @param col_stride elements between (i, j) and (i, j + 1)
 */
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

/** Makes a view of row-major doubles, as of C and NumPy. */
static inline bdl_matrix bdl_f64(const double* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_F64, rows, cols, cols, 1);
}

/** Makes a view of row-major floats. */
static inline bdl_matrix bdl_f32(const float* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_F32, rows, cols, cols, 1);
}

/** Makes a view of row-major 32-bit integers, for labels and counts. */
static inline bdl_matrix bdl_i32(const int32_t* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_I32, rows, cols, cols, 1);
}

/** Makes a view of row-major bytes, for images: one image a row. */
static inline bdl_matrix bdl_u8(const uint8_t* data, int64_t rows, int64_t cols) {
  return bdl_strided(data, BDL_U8, rows, cols, cols, 1);
}

/** Makes a view of a column-major matrix (Fortran, R, Julia) of any element type. */
static inline bdl_matrix bdl_column_major(const void* data, bdl_dtype dtype, int64_t rows, int64_t cols) {
  return bdl_strided(data, dtype, rows, cols, 1, rows);
}

/** Returns a view for an input that is not given. */
static inline bdl_matrix bdl_none(void) {
  return bdl_strided(BDL_NULL, BDL_F64, 0, 0, 0, 0);
}

/** Makes a view of an output of any layout; arguments are those of bdl_strided(). */
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

/** Makes a view of an output of row-major doubles. */
static inline bdl_matrix_out bdl_f64_out(double* data, int64_t rows, int64_t cols) {
  return bdl_strided_out(data, BDL_F64, rows, cols, cols, 1);
}

/** Makes a view of an output of row-major floats. */
static inline bdl_matrix_out bdl_f32_out(float* data, int64_t rows, int64_t cols) {
  return bdl_strided_out(data, BDL_F32, rows, cols, cols, 1);
}

/** Makes a view of a column-major output. */
static inline bdl_matrix_out bdl_column_major_out(void* data, bdl_dtype dtype, int64_t rows, int64_t cols) {
  return bdl_strided_out(data, dtype, rows, cols, 1, rows);
}

/** Returns a view for an output that is not wanted. */
static inline bdl_matrix_out bdl_none_out(void) {
  return bdl_strided_out(BDL_NULL, BDL_F64, 0, 0, 0, 0);
}

/** Makes a view that reads what a call has written, as input of the next call. */
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
