/* Failures as R conditions, signalled by R code (R/conditions.R) so that every handler and restart works. */
#include <stdarg.h>
#include <stdio.h>

#include "support.h"

static void signal_condition(bdl_status status, const char* message) {
  SEXP package = PROTECT(Rf_mkString("bdl"));
  SEXP space = PROTECT(R_FindNamespace(package));
  SEXP number = PROTECT(Rf_ScalarInteger((int)status)), text = PROTECT(bdlr_from_string(message));
  SEXP call = PROTECT(Rf_lang3(Rf_install("raise"), number, text));
  Rf_eval(call, space);
  UNPROTECT(5);
}

void bdlr_raise(bdl_status status, const char* format, ...) {
  char message[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  signal_condition(status, message);
}

static const char* kind_of(SEXP value) {
  if (Rf_inherits(value, "factor")) return "a factor";
  if (Rf_inherits(value, "data.frame")) return "a data frame";
  return value == R_NilValue ? "NULL" : Rf_type2char(TYPEOF(value));
}

void bdlr_refuse(const char* function, const char* argument, const char* expected, SEXP got) {
  bdlr_raise(BDL_ERROR_INVALID_ARGUMENT, "%s: %s must be %s, got %s of length %.0f", function, argument,
             expected, kind_of(got), (double)Rf_xlength(got));
}

void bdlr_check(bdl_status status) {
  if (status == BDL_OK) return;
  signal_condition(status, status == BDL_STOPPED ? "stopped on request" : bdl_last_error());
}
