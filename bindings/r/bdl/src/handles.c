/* Handles: external pointers with a tag for their kind, a class, and a finalizer. */
#include <stdio.h>

#include "support.h"

static const char* const names[] = {"bdl_model",  "bdl_posterior", "bdl_optimizer",   "bdl_predictor",
                                    "bdl_search", "bdl_dataset",   "bdl_communicator"};

static void free_handle(SEXP handle) {
  void* address = R_ExternalPtrAddr(handle);
  SEXP tag = R_ExternalPtrTag(handle);
  if (!address) return;
  R_ClearExternalPtr(handle);
  if (tag == Rf_install(names[BDLR_MODEL])) bdl_model_free(address);
  if (tag == Rf_install(names[BDLR_POSTERIOR])) bdl_posterior_free(address);
  if (tag == Rf_install(names[BDLR_OPTIMIZER])) bdl_optimizer_free(address);
  if (tag == Rf_install(names[BDLR_PREDICTOR])) bdl_predictor_free(address);
  if (tag == Rf_install(names[BDLR_SEARCH])) bdl_search_free(address);
  if (tag == Rf_install(names[BDLR_DATASET])) bdl_dataset_free(address);
  if (tag == Rf_install(names[BDLR_COMMUNICATOR])) bdl_communicator_free(address);
}

/* Values protected with the pointer: the number of the call whose callback made the handle, and R functions
   and arrays that the library may use. It is not R_PreserveObject()'s list that keeps those: a function whose
   environment holds the handle would never be collected. */
enum { MADE_IN, FUNCTIONS, DRAWS, RANKS, X, Y, KEPT };

static SEXP make(bdlr_kind kind, void* address, double made_in) {
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, KEPT)), class = PROTECT(Rf_allocVector(STRSXP, 2));
  SET_VECTOR_ELT(kept, MADE_IN, Rf_ScalarReal(made_in));
  SEXP handle = PROTECT(R_MakeExternalPtr(address, Rf_install(names[kind]), kept));
  SET_STRING_ELT(class, 0, Rf_mkChar(names[kind]));
  SET_STRING_ELT(class, 1, Rf_mkChar("bdl_handle"));
  Rf_setAttrib(handle, R_ClassSymbol, class);
  UNPROTECT(3);
  return handle;
}

SEXP bdlr_new_handle(bdlr_kind kind) {
  SEXP handle = PROTECT(make(kind, NULL, bdlr_current_call()));
  R_RegisterCFinalizerEx(handle, free_handle, TRUE);
  UNPROTECT(1);
  return handle;
}

SEXP bdlr_view_posterior(const bdl_posterior* q) {
  return make(BDLR_POSTERIOR, (void*)q, 0);
}

static int is_handle(SEXP value) {
  if (TYPEOF(value) != EXTPTRSXP) return 0;
  for (int kind = BDLR_MODEL; kind <= BDLR_COMMUNICATOR; ++kind)
    if (R_ExternalPtrTag(value) == Rf_install(names[kind])) return 1;
  return 0;
}

static void keep(SEXP handle, int place, SEXP value) {
  if (is_handle(handle)) SET_VECTOR_ELT(R_ExternalPtrProtected(handle), place, value);
}

void bdlr_keep_functions(SEXP handle, SEXP functions) {
  keep(handle, FUNCTIONS, functions);
}
void bdlr_keep_draws(SEXP handle, SEXP draws) {
  keep(handle, DRAWS, draws);
}

void bdlr_keep_communicator(SEXP handle, SEXP communicator) {
  keep(handle, RANKS, communicator);
}

void bdlr_keep_array(SEXP handle, int which, SEXP array) {
  keep(handle, X + which, array);
}

void bdlr_inherit(SEXP made, SEXP from) {
  if (!is_handle(from)) return;
  SEXP functions = VECTOR_ELT(R_ExternalPtrProtected(from), FUNCTIONS);
  if (functions == R_NilValue) return;
  keep(made, FUNCTIONS, functions);
  for (int i = 0; TYPEOF(made) == VECSXP && i < LENGTH(made); ++i)
    keep(VECTOR_ELT(made, i), FUNCTIONS, functions);
}

/* While the library works, its callbacks may change what they made themselves and nothing else: the rest may
   be at work further up the stack. */
static int is_locked(SEXP handle) {
  const double now = bdlr_current_call();
  return now != 0 && Rf_asReal(VECTOR_ELT(R_ExternalPtrProtected(handle), MADE_IN)) != now;
}

void* bdlr_handle(SEXP value, bdlr_kind kind, int changes, const char* function, const char* argument) {
  if (TYPEOF(value) != EXTPTRSXP || R_ExternalPtrTag(value) != Rf_install(names[kind])) {
    char expected[60];
    snprintf(expected, sizeof expected, "a %s handle", names[kind]);
    bdlr_refuse(function, argument, expected, value);
  }
  if (!R_ExternalPtrAddr(value))
    bdlr_raise(BDL_ERROR_INVALID_ARGUMENT, "%s: %s is closed, or comes from a saved session", function,
               argument);
  if (changes && is_locked(value))
    bdlr_raise(BDL_ERROR_INVALID_ARGUMENT, "%s: %s may be read only while a callback runs", function,
               argument);
  return R_ExternalPtrAddr(value);
}

const bdl_model** bdlr_members(SEXP value, const bdl_posterior*** posteriors, int64_t* count,
                               const char* function, const char* argument) {
  if (TYPEOF(value) != VECSXP)
    bdlr_refuse(function, argument, "a list of lists of a model and a posterior", value);
  const R_xlen_t n = XLENGTH(value);
  const bdl_model** models = (const bdl_model**)R_alloc((size_t)n + 1, sizeof *models);
  *posteriors = (const bdl_posterior**)R_alloc((size_t)n + 1, sizeof **posteriors);
  for (R_xlen_t i = 0; i < n; ++i) {
    SEXP member = VECTOR_ELT(value, i);
    if (TYPEOF(member) != VECSXP || XLENGTH(member) != 2)
      bdlr_refuse(function, argument, "lists of a model and a posterior", member);
    models[i] = bdlr_handle(VECTOR_ELT(member, 0), BDLR_MODEL, 0, function, argument);
    (*posteriors)[i] = bdlr_handle(VECTOR_ELT(member, 1), BDLR_POSTERIOR, 0, function, argument);
  }
  *count = n;
  return models;
}

/* Whole, where a member has functions: its model's handle keeps them. */
void bdlr_inherit_members(SEXP made, SEXP members) {
  for (R_xlen_t i = 0; i < XLENGTH(members); ++i) {
    SEXP model = VECTOR_ELT(VECTOR_ELT(members, i), 0);
    if (VECTOR_ELT(R_ExternalPtrProtected(model), FUNCTIONS) != R_NilValue) keep(made, FUNCTIONS, members);
  }
}

void bdl_handle_close(SEXP handle) {
  if (!is_handle(handle)) bdlr_refuse("bdl_handle_close", "handle", "a handle", handle);
  if (!R_ExternalPtrAddr(handle)) return;
  if (is_locked(handle))
    bdlr_raise(BDL_ERROR_INVALID_ARGUMENT, "bdl_handle_close: handle cannot be closed while a callback runs");
  free_handle(handle);
}

int32_t bdl_handle_is_open(SEXP handle) {
  if (!is_handle(handle)) bdlr_refuse("bdl_handle_is_open", "handle", "a handle", handle);
  return R_ExternalPtrAddr(handle) != NULL;
}
