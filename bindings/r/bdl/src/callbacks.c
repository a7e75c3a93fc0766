/* Trampolines: the library's callbacks as calls of R functions, which get copies and return copies. */
#include "support.h"

SEXP bdlr_function(SEXP value, const char* function, const char* argument) {
  if (value != R_NilValue && !Rf_isFunction(value))
    bdlr_refuse(function, argument, "a function or NULL", value);
  return value;
}

SEXP bdlr_functions(SEXP value, const char* function, const char* argument) {
  if (TYPEOF(value) != VECSXP || LENGTH(value) != 2 || !Rf_isFunction(VECTOR_ELT(value, 0)) ||
      !(VECTOR_ELT(value, 1) == R_NilValue || Rf_isFunction(VECTOR_ELT(value, 1))))
    bdlr_refuse(function, argument, "list(outputs, gradients), functions; the second may be NULL", value);
  return value;
}

/* All that a trampoline hands to its body, which runs where it may jump. */
typedef struct request {
  SEXP function, handle;
  const char* handle_name;
  bdl_matrix parameters, inputs, output_gradients;
  bdl_matrix_out result;
  const bdl_posterior* q;
  SEXP view; /* of q, which is void when the callback has ended */
  bdl_draw_kind draws;
  int64_t step, iteration;
  const int64_t* rows;
  int64_t count;
  bdl_matrix_out x, y;
  int stop;
} request;

SEXP bdlr_call_by_names(const char* const* names, const SEXP* values, int count) {
  SEXP space = PROTECT(R_NewEnv(R_GlobalEnv, FALSE, 0)), arguments = PROTECT(Rf_allocList(count - 1));
  SEXP at = arguments;
  for (int i = 0; i < count; ++i) Rf_defineVar(Rf_install(names[i]), values[i], space);
  for (int i = 1; i < count; ++i, at = CDR(at)) SETCAR(at, Rf_install(names[i]));
  SEXP call = PROTECT(Rf_lcons(Rf_install(names[0]), arguments)), result = Rf_eval(call, space);
  UNPROTECT(3);
  return result;
}

static SEXP call_progress(void* data) {
  request* r = data;
  const char* const names[] = {"progress", r->handle_name};
  const SEXP values[] = {r->function, r->handle};
  SEXP answer = PROTECT(bdlr_call_by_names(names, values, 2));
  r->stop = TYPEOF(answer) == LGLSXP && XLENGTH(answer) == 1 && LOGICAL(answer)[0] == TRUE;
  UNPROTECT(1);
  return R_NilValue;
}

static int32_t progress(void* user_data, const char* handle_name) {
  request r = {.function = CAR((SEXP)user_data), .handle = CDR((SEXP)user_data), .handle_name = handle_name};
  return bdlr_protected(call_progress, &r) ? 1 : r.stop;
}

int32_t bdlr_on_progress(void* user_data, const bdl_optimizer* optimizer) {
  (void)optimizer;
  return progress(user_data, "optimizer");
}

int32_t bdlr_on_search_progress(void* user_data, const bdl_search* search) {
  (void)search;
  return progress(user_data, "search");
}

static SEXP plain_row(bdl_matrix row) {
  SEXP copy = PROTECT(bdlr_from_view(row));
  Rf_setAttrib(copy, R_DimSymbol, R_NilValue);
  UNPROTECT(1);
  return copy;
}

static SEXP call_outputs(void* data) {
  static const char* const names[] = {"outputs", "parameters", "inputs"};
  request* r = data;
  SEXP parameters = PROTECT(plain_row(r->parameters)), inputs = PROTECT(bdlr_from_view(r->inputs));
  const SEXP values[] = {r->function, parameters, inputs};
  bdlr_to_view(PROTECT(bdlr_call_by_names(names, values, 3)), r->result,
               "the outputs function of a custom model");
  UNPROTECT(3);
  return R_NilValue;
}

int32_t bdlr_on_outputs(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  request r = {.function = VECTOR_ELT((SEXP)user_data, 0),
               .parameters = parameters,
               .inputs = inputs,
               .result = outputs};
  return bdlr_protected(call_outputs, &r);
}

static SEXP call_gradients(void* data) {
  static const char* const names[] = {"gradients", "parameters", "inputs", "output_gradients"};
  request* r = data;
  SEXP parameters = PROTECT(plain_row(r->parameters)), inputs = PROTECT(bdlr_from_view(r->inputs));
  SEXP seeds = PROTECT(bdlr_from_view(r->output_gradients));
  const SEXP values[] = {r->function, parameters, inputs, seeds};
  bdlr_to_view(PROTECT(bdlr_call_by_names(names, values, 4)), r->result,
               "the gradients function of a custom model");
  UNPROTECT(4);
  return R_NilValue;
}

int32_t bdlr_on_gradients(void* user_data, bdl_matrix parameters, bdl_matrix inputs,
                          bdl_matrix output_gradients, bdl_matrix_out rows) {
  request r = {.function = VECTOR_ELT((SEXP)user_data, 1),
               .parameters = parameters,
               .inputs = inputs,
               .output_gradients = output_gradients,
               .result = rows};
  return bdlr_protected(call_gradients, &r);
}

static SEXP call_draws(void* data) {
  static const char* const names[] = {"draws", "kind", "step", "iteration", "q", "count"};
  request* r = data;
  SEXP kind = PROTECT(Rf_mkString(r->draws == BDL_DRAW_PROBES ? "probes" : "parameters"));
  SEXP step = PROTECT(Rf_ScalarReal((double)r->step)),
       iteration = PROTECT(Rf_ScalarReal((double)r->iteration));
  r->view = PROTECT(bdlr_view_posterior(r->q));
  SEXP count = PROTECT(Rf_ScalarReal((double)r->result.rows));
  const SEXP values[] = {r->function, kind, step, iteration, r->view, count};
  bdlr_to_view(PROTECT(bdlr_call_by_names(names, values, 6)), r->result, "the draws function");
  UNPROTECT(6);
  return R_NilValue;
}

int32_t bdlr_on_draws(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                      const bdl_posterior* q, bdl_matrix_out draws) {
  request r = {
      .function = user_data, .q = q, .draws = kind, .step = step, .iteration = iteration, .result = draws};
  const int jumped = bdlr_protected(call_draws, &r);
  /* R code may have kept the view. After a jump nothing has been allocated, so it still exists. */
  if (r.view) R_ClearExternalPtr(r.view);
  return jumped;
}

/* Rows count from 1 in R. */
static SEXP call_read(void* data) {
  static const char* const names[] = {"read", "rows"};
  request* r = data;
  SEXP rows = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)r->count));
  for (int64_t i = 0; i < r->count; ++i) REAL(rows)[i] = (double)r->rows[i] + 1;
  const SEXP values[] = {r->function, rows};
  SEXP pair = PROTECT(bdlr_call_by_names(names, values, 2));
  if (TYPEOF(pair) != VECSXP || XLENGTH(pair) != 2)
    bdlr_raise(BDL_ERROR_CALLBACK, "the read function of a data set must return list(x, y)");
  if (r->x.data) bdlr_to_view(VECTOR_ELT(pair, 0), r->x, "the read function of a data set, for x,");
  if (r->y.data) bdlr_to_view(VECTOR_ELT(pair, 1), r->y, "the read function of a data set, for y,");
  UNPROTECT(2);
  return R_NilValue;
}

int32_t bdlr_on_read(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                     bdl_matrix_out y) {
  request r = {.function = user_data, .rows = rows, .count = count, .x = x, .y = y};
  return bdlr_protected(call_read, &r);
}
