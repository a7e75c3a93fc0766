/* Numbers and strings. R's doubles carry integers exactly up to 2^53; beyond that they are refused. */
#include <math.h>

#include "support.h"

static const double largest = 9007199254740992.0;

static int is_number(SEXP value) {
  if (Rf_xlength(value) != 1 || Rf_inherits(value, "factor")) return 0;
  return TYPEOF(value) == REALSXP || TYPEOF(value) == INTSXP || TYPEOF(value) == LGLSXP;
}

double bdlr_double(SEXP value, const char* function, const char* argument) {
  if (!is_number(value)) bdlr_refuse(function, argument, "one number", value);
  return Rf_asReal(value);
}

static double whole(SEXP value, double low, double high, const char* function, const char* argument) {
  const double number = bdlr_double(value, function, argument);
  if (!(number >= low && number <= high) || number != floor(number))
    bdlr_raise(BDL_ERROR_INVALID_ARGUMENT, "%s: %s must be a whole number from %.0f to %.0f, got %g",
               function, argument, low, high, number);
  return number;
}

int64_t bdlr_int64(SEXP value, const char* function, const char* argument) {
  return (int64_t)whole(value, -largest, largest, function, argument);
}

uint64_t bdlr_uint64(SEXP value, const char* function, const char* argument) {
  return (uint64_t)whole(value, 0, largest, function, argument);
}

int32_t bdlr_int32(SEXP value, const char* function, const char* argument) {
  return (int32_t)whole(value, -2147483647.0, 2147483647.0, function, argument);
}

int bdlr_logical(SEXP value, const char* function, const char* argument) {
  const int truth = TYPEOF(value) == LGLSXP && Rf_xlength(value) == 1 ? LOGICAL(value)[0] : NA_LOGICAL;
  if (truth == NA_LOGICAL) bdlr_refuse(function, argument, "TRUE or FALSE", value);
  return truth;
}

const char* bdlr_string(SEXP value, const char* function, const char* argument) {
  if (TYPEOF(value) != STRSXP || XLENGTH(value) != 1 || STRING_ELT(value, 0) == NA_STRING)
    bdlr_refuse(function, argument, "one string", value);
  return Rf_translateCharUTF8(STRING_ELT(value, 0));
}

SEXP bdlr_from_string(const char* value) {
  return value ? Rf_ScalarString(Rf_mkCharCE(value, CE_UTF8)) : R_NilValue;
}
