/* Arrays. Inputs are views of R's memory; outputs are allocated here, since R's values are never written to.
 */
#include "support.h"

static int has_missing_integer(SEXP value) {
  const int* data = TYPEOF(value) == LGLSXP ? LOGICAL_RO(value) : INTEGER_RO(value);
  for (R_xlen_t i = 0; i < XLENGTH(value); ++i)
    if (data[i] == NA_INTEGER) return 1;
  return 0;
}

/* To C, R's missing integer is a number like any other. */
static const void* elements(SEXP value, bdl_dtype* dtype, const char* function, const char* argument) {
  const int is_bytes = TYPEOF(value) == RAWSXP && Rf_isMatrix(value);
  *dtype = TYPEOF(value) == REALSXP ? BDL_F64 : is_bytes ? BDL_U8 : BDL_I32;
  if (*dtype == BDL_F64) return REAL_RO(value);
  if (is_bytes) return RAW_RO(value);
  if ((TYPEOF(value) != INTSXP && TYPEOF(value) != LGLSXP) || Rf_inherits(value, "factor"))
    bdlr_refuse(function, argument, "a numeric matrix or vector", value);
  if (has_missing_integer(value))
    bdlr_raise(BDL_ERROR_NOT_FINITE, "%s: %s has missing values (NA)", function, argument);
  return TYPEOF(value) == LGLSXP ? LOGICAL_RO(value) : INTEGER_RO(value);
}

bdl_matrix bdlr_matrix(SEXP value, int vector_is_row, const char* function, const char* argument) {
  bdl_dtype dtype;
  if (value == R_NilValue) return bdl_none();
  const void* data = elements(value, &dtype, function, argument);
  SEXP dim = Rf_getAttrib(value, R_DimSymbol);
  if (Rf_xlength(dim) > 2) bdlr_refuse(function, argument, "a matrix or vector, not an array", value);
  if (Rf_xlength(dim) == 2) return bdl_column_major(data, dtype, INTEGER(dim)[0], INTEGER(dim)[1]);
  const int64_t n = XLENGTH(value);
  return vector_is_row ? bdl_column_major(data, dtype, 1, n) : bdl_column_major(data, dtype, n, 1);
}

bdl_matrix_out bdlr_matrix_out(SEXP dimensions, SEXP* result, const char* function, const char* argument) {
  *result = R_NilValue;
  if (dimensions == R_NilValue) return bdl_none_out();
  if (TYPEOF(dimensions) == LGLSXP && XLENGTH(dimensions) == 1 && LOGICAL(dimensions)[0] == FALSE)
    return bdl_none_out();
  int64_t count, shape[2] = {0, 1};
  const int64_t* given = bdlr_integers(dimensions, &count, function, argument);
  if (count < 1 || count > 2)
    bdlr_refuse(function, argument, "c(rows, columns) of what is wanted, or NULL", dimensions);
  for (int64_t i = 0; i < count; ++i) shape[i] = given[i];
  if (shape[0] < 0 || shape[1] < 0 || shape[0] > INT_MAX || shape[1] > INT_MAX)
    bdlr_refuse(function, argument, "c(rows, columns), each from 0 to 2^31 - 1", dimensions);
  *result = Rf_allocMatrix(REALSXP, (int)shape[0], (int)shape[1]);
  return bdl_column_major_out(REAL(*result), BDL_F64, shape[0], shape[1]);
}

const int64_t* bdlr_integers(SEXP value, int64_t* count, const char* function, const char* argument) {
  if ((TYPEOF(value) != REALSXP && TYPEOF(value) != INTSXP) || Rf_inherits(value, "factor"))
    bdlr_refuse(function, argument, "a vector of whole numbers", value);
  const R_xlen_t n = XLENGTH(value);
  int64_t* copy = (int64_t*)R_alloc((size_t)n + 1, sizeof *copy);
  for (R_xlen_t i = 0; i < n; ++i) {
    const double number = TYPEOF(value) == REALSXP          ? REAL(value)[i]
                          : INTEGER(value)[i] == NA_INTEGER ? NA_REAL
                                                            : INTEGER(value)[i];
    if (!(number >= -9007199254740992.0 && number <= 9007199254740992.0) || number != (double)(int64_t)number)
      bdlr_raise(BDL_ERROR_INVALID_ARGUMENT, "%s: %s[%.0f] must be a whole number within +-2^53, got %g",
                 function, argument, (double)i + 1, number);
    copy[i] = (int64_t)number;
  }
  *count = n;
  return copy;
}

const char** bdlr_tensors(SEXP value, bdl_matrix** matrices, int64_t* count, const char* function,
                          const char* argument) {
  SEXP names = Rf_getAttrib(value, R_NamesSymbol);
  if (TYPEOF(value) != VECSXP || TYPEOF(names) != STRSXP)
    bdlr_refuse(function, argument, "a named list of matrices", value);
  const R_xlen_t n = XLENGTH(value);
  const char** texts = (const char**)R_alloc((size_t)n + 1, sizeof *texts);
  *matrices = (bdl_matrix*)R_alloc((size_t)n + 1, sizeof **matrices);
  for (R_xlen_t i = 0; i < n; ++i) {
    texts[i] = Rf_translateCharUTF8(STRING_ELT(names, i));
    (*matrices)[i] = bdlr_matrix(VECTOR_ELT(value, i), 1, function, argument);
  }
  *count = n;
  return texts;
}

SEXP bdlr_bytes_out(SEXP capacity, const char* function, const char* argument) {
  if (capacity == R_NilValue) return R_NilValue;
  const int64_t size = bdlr_int64(capacity, function, argument);
  if (size < 0) bdlr_refuse(function, argument, "a number of bytes, or NULL", capacity);
  return size ? Rf_allocVector(RAWSXP, (R_xlen_t)size) : R_NilValue;
}

const void* bdlr_bytes(SEXP value, int64_t* size, const char* function, const char* argument) {
  if (TYPEOF(value) != RAWSXP) bdlr_refuse(function, argument, "a raw vector", value);
  *size = XLENGTH(value);
  return RAW_RO(value);
}

static double element(bdl_matrix view, int64_t i, int64_t j) {
  const int64_t at = i * view.row_stride + j * view.col_stride;
  if (view.dtype == BDL_F64) return ((const double*)view.data)[at];
  return view.dtype == BDL_F32 ? ((const float*)view.data)[at] : ((const int32_t*)view.data)[at];
}

SEXP bdlr_from_view(bdl_matrix view) {
  if (view.rows > INT_MAX || view.cols > INT_MAX)
    Rf_error("a matrix of 2^31 rows or columns is too large for R");
  SEXP copy = PROTECT(Rf_allocMatrix(REALSXP, (int)view.rows, (int)view.cols));
  double* to = REAL(copy);
  for (int64_t j = 0; j < view.cols; ++j)
    for (int64_t i = 0; i < view.rows; ++i) *to++ = element(view, i, j);
  UNPROTECT(1);
  return copy;
}

static int fits(SEXP value, bdl_matrix_out view) {
  SEXP dim = Rf_getAttrib(value, R_DimSymbol);
  if (Rf_xlength(value) != view.rows * view.cols) return 0;
  if (Rf_xlength(dim) == 2) return INTEGER(dim)[0] == view.rows && INTEGER(dim)[1] == view.cols;
  return dim == R_NilValue && (view.rows == 1 || view.cols == 1);
}

void bdlr_to_view(SEXP value, bdl_matrix_out view, const char* what) {
  const int is_real = TYPEOF(value) == REALSXP;
  if ((!is_real && TYPEOF(value) != INTSXP && TYPEOF(value) != LGLSXP) || Rf_inherits(value, "factor") ||
      !fits(value, view))
    bdlr_raise(BDL_ERROR_CALLBACK, "%s must return a numeric %.0f x %.0f matrix", what, (double)view.rows,
               (double)view.cols);
  SEXP numbers = PROTECT(is_real ? value : Rf_coerceVector(value, REALSXP));
  const double* from = REAL_RO(numbers);
  for (int64_t j = 0; j < view.cols; ++j)
    for (int64_t i = 0; i < view.rows; ++i) {
      const int64_t at = i * view.row_stride + j * view.col_stride;
      if (view.dtype == BDL_F64)
        ((double*)view.data)[at] = *from++;
      else
        ((float*)view.data)[at] = (float)*from++;
    }
  UNPROTECT(1);
}
