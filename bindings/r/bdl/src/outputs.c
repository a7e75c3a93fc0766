/* Outputs. SWIG collects them in a list, whose first element is the status' and others may be inputs'. */
#include "support.h"

static SEXP names_of(SEXP list) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (names != R_NilValue) return names;
  names = PROTECT(Rf_allocVector(STRSXP, XLENGTH(list)));
  Rf_setAttrib(list, R_NamesSymbol, names);
  UNPROTECT(1);
  return names;
}

static int count_named(SEXP names) {
  int count = 0;
  for (int i = 0; i < LENGTH(names); ++i) count += STRING_ELT(names, i) != R_BlankString;
  return count;
}

static SEXP only_named(SEXP list, SEXP names, int count) {
  SEXP outputs = PROTECT(Rf_allocVector(VECSXP, count)), labels = PROTECT(Rf_allocVector(STRSXP, count));
  for (int i = 0, to = 0; i < LENGTH(list); ++i) {
    if (STRING_ELT(names, i) == R_BlankString) continue;
    SET_VECTOR_ELT(outputs, to, VECTOR_ELT(list, i));
    SET_STRING_ELT(labels, to++, STRING_ELT(names, i));
  }
  Rf_setAttrib(outputs, R_NamesSymbol, labels);
  UNPROTECT(2);
  return outputs;
}

SEXP bdlr_output(SEXP list, int n, const char* name, SEXP value) {
  const int last = LENGTH(list) - 1;
  if (last == 1) return value;
  SET_VECTOR_ELT(list, n, value);
  SEXP names = names_of(list);
  SET_STRING_ELT(names, n, Rf_mkChar(name));
  if (n < last) return list;
  const int count = count_named(names);
  return count == 1 ? value : only_named(list, names, count);
}

SEXP bdlr_from_report(const bdl_ood_report* report) {
  const char* names[] = {"auroc",           "aupr",           "aupr_out",        "fpr95", "threshold",
                         "detection_error", "entropy_inside", "entropy_outside", ""};
  const double numbers[] = {report->auroc,           report->aupr,           report->aupr_out, report->fpr95,
                            report->threshold,       report->detection_error, report->entropy_inside,
                            report->entropy_outside};
  SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < LENGTH(list); ++i) SET_VECTOR_ELT(list, i, Rf_ScalarReal(numbers[i]));
  UNPROTECT(1);
  return list;
}
