/* How values of R become arguments and results. The functions behind the typemaps are in bdl/src/support.h. */
%{
#include "support.h"
/* Only registered routines are found: SWIG's own initialisation does not say so. */
#define R_registerRoutines(dll, ...) (R_registerRoutines(dll, __VA_ARGS__), R_useDynamicSymbols(dll, FALSE))
#define BDLR_TAKES_NULL(function, argument) \
  (!strncmp(function, "bdl_save", 8) || !strcmp(argument, "user_model") || \
   (strstr(function, "_set_communicator") && !strcmp(argument, "communicator")) || \
   (!strcmp(function, "bdl_optimizer_create") && !strcmp(argument, "model")))
/* Arguments that are communicators. */
#define BDLR_OWNER_bdl_optimizer_set_communicator optimizer
#define BDLR_OWNER_bdl_search_set_communicator search
%}

/* A library older than the headers would misread what it is given. */
%init %{
  if (BDL_CHECK_VERSION() != BDL_OK) Rf_error("%s", bdl_last_error());
%}

%rename("$ignore", %$isenumitem) "";
%rename("$ignore", %$isenum) "";

%define BDLR_PLAIN(TYPE)
%typemap(scoercein) TYPE ""
%typemap(scoerceout) TYPE ""
%typemap(scheck) TYPE ""
%enddef
BDLR_PLAIN(SWIGTYPE)
BDLR_PLAIN(SWIGTYPE *)
BDLR_PLAIN(SWIGTYPE **)
BDLR_PLAIN(const char *)
BDLR_PLAIN(enum SWIGTYPE)
BDLR_PLAIN(double)
BDLR_PLAIN(int32_t)

/* Scalars. */
%define BDLR_SCALAR(TYPE, READ)
BDLR_PLAIN(TYPE)
%typemap(in) TYPE { $1 = ($1_ltype)READ($input, "$symname", "$1_name"); }
%enddef
BDLR_SCALAR(double, bdlr_double)
BDLR_SCALAR(int64_t, bdlr_int64)
BDLR_SCALAR(uint64_t, bdlr_uint64)
BDLR_SCALAR(int32_t, bdlr_int32)
BDLR_SCALAR(const char *, bdlr_string)
BDLR_SCALAR(bdl_dtype, bdlr_int32)
BDLR_SCALAR(bdl_activation, bdlr_int32)
BDLR_SCALAR(bdl_likelihood, bdlr_int32)
BDLR_SCALAR(bdl_initialization, bdlr_int32)
BDLR_SCALAR(bdl_predict_method, bdlr_int32)
BDLR_SCALAR(bdl_scale, bdlr_int32)
BDLR_SCALAR(bdl_score, bdlr_int32)
%typemap(in) const char *y_path, const char *y_name {
  $1 = ($1_ltype)($input == R_NilValue ? NULL : bdlr_string($input, "$symname", "$1_name"));
}
%typemap(in) bdl_status { $1 = (bdl_status)bdlr_int32($input, "$symname", "$1_name"); }
%typemap(freearg) const char * ""
%typemap(out) int64_t { $result = Rf_ScalarReal((double)$1); }
%typemap(out) int32_t { $result = Rf_ScalarInteger($1); }
%typemap(out) const char * { $result = bdlr_from_string($1); }

/* Status: an error, or nothing. Three functions may be stopped, and say whether they were. */
BDLR_PLAIN(bdl_status)
%typemap(out) bdl_status { bdlr_check($1); r_ans = R_NilValue; }
%typemap(out) bdl_status bdl_optimizer_fit, bdl_status bdl_optimizer_fit_dataset, bdl_status bdl_search_run {
  if ($1 != BDL_STOPPED) bdlr_check($1);
  r_ans = Rf_ScalarLogical($1 == BDL_STOPPED);
}
%exception {
  bdlr_call call;
  bdlr_call_begin(&call);
  $action
  bdlr_call_end(&call);
}

/* Scalar outputs. */
%define BDLR_OUTPUT(TYPE, VALUE)
%typemap(in, numinputs=0) TYPE * (TYPE output) { $1 = &output; }
%typemap(argout) TYPE * { r_ans = bdlr_output($result, $n, "$1_name", VALUE(*$1)); }
%typemap(freearg) TYPE * ""
%enddef
BDLR_OUTPUT(double, Rf_ScalarReal)
BDLR_OUTPUT(int64_t, Rf_ScalarReal)
BDLR_OUTPUT(int32_t, Rf_ScalarInteger)
BDLR_OUTPUT(bdl_option_type, Rf_ScalarInteger)
BDLR_OUTPUT(bdl_predict_method, Rf_ScalarInteger)
BDLR_OUTPUT(bdl_likelihood, Rf_ScalarInteger)
%typemap(in, numinputs=0) bdl_ood_report * (bdl_ood_report report) {
  report.struct_size = sizeof report;
  $1 = &report;
}
%typemap(argout) bdl_ood_report * { r_ans = bdlr_output($result, $n, "$1_name", bdlr_from_report($1)); }
%typemap(freearg) bdl_ood_report * ""
/* As above, where an output may be impossible: R says whether it is wanted. */
%typemap(in) double *WANTED (double output) {
  $1 = bdlr_logical($input, "$symname", "$1_name") ? &output : NULL;
}
%typemap(argout) double *WANTED { r_ans = bdlr_output($result, $n, "$1_name", $1 ? Rf_ScalarReal(*$1) : R_NilValue); }
%typemap(freearg) double *WANTED ""
%typemap(in, numinputs=0) const char ** (const char *output) { $1 = ($1_ltype)&output; }
%typemap(argout) const char ** { r_ans = bdlr_output($result, $n, "$1_name", bdlr_from_string(*$1)); }

/* Arrays. Parameters that the library wants as one row take plain vectors as rows. */
%typemap(in) bdl_matrix { $1 = bdlr_matrix($input, 0, "$symname", "$1_name"); }
%typemap(in) bdl_matrix parameters, bdl_matrix diagonal, bdl_matrix precision, bdl_matrix variance,
    bdl_matrix prior_precision, bdl_matrix input_mean, bdl_matrix input_scale, bdl_matrix target_mean,
    bdl_matrix target_scale, bdl_matrix levels, bdl_matrix classes {
  $1 = bdlr_matrix($input, 1, "$symname", "$1_name");
}
%typemap(in) bdl_matrix mean { /* of a posterior, or of predictions */
  $1 = bdlr_matrix($input, strncmp("$symname", "bdl_metric_", 11) != 0, "$symname", "$1_name");
}
%typemap(in) bdl_matrix_out (SEXP array) {
  $1 = bdlr_matrix_out($input, &array, "$symname", "$1_name");
  PROTECT(array);
  ++r_nprotect;
}
%typemap(argout) bdl_matrix_out { r_ans = bdlr_output($result, $n, "$1_name", array$argnum); }
%define BDLR_INTEGERS(POINTER, COUNT)
%typemap(in) (POINTER, COUNT) (int64_t count) {
  $1 = ($1_ltype)bdlr_integers($input, &count, "$symname", "$1_name");
  $2 = ($2_ltype)count;
}
%typemap(argout) (POINTER, COUNT) ""
%typemap(freearg) (POINTER, COUNT) ""
%enddef
BDLR_INTEGERS(const int64_t *sizes, int32_t size_count)
BDLR_INTEGERS(const int64_t *rows, int64_t row_count)
BDLR_INTEGERS(const int64_t *cols, int64_t col_count)
BDLR_INTEGERS(const int64_t *rows, int64_t count)
%typemap(in) (const char *const *names, const bdl_matrix *tensors, int64_t tensor_count) {
  $1 = ($1_ltype)bdlr_tensors($input, (bdl_matrix **)&$2, &$3, "$symname", "tensors");
}
%typemap(argout) (const char *const *names, const bdl_matrix *tensors, int64_t tensor_count) ""
%typemap(freearg) (const char *const *names, const bdl_matrix *tensors, int64_t tensor_count) ""
%typemap(in) (const void *bytes, int64_t size) {
  $1 = (void *)bdlr_bytes($input, &$2, "$symname", "$1_name");
}
%typemap(in) (void *buffer, int64_t capacity) (SEXP bytes) {
  PROTECT(bytes = bdlr_bytes_out($input, "$symname", "$1_name"));
  ++r_nprotect;
  $1 = bytes == R_NilValue ? NULL : RAW(bytes);
  $2 = bytes == R_NilValue ? 0 : (int64_t)XLENGTH(bytes);
}
%typemap(argout) (void *buffer, int64_t capacity) {
  r_ans = bdlr_output($result, $n, "$1_name", bytes$argnum);
}

/* Handles. An empty one is made before the call, so that nothing can fail between the library's and its own. */
%define BDLR_HANDLE(TYPE, KIND)
%typemap(in) const TYPE * (SEXP given) {
  given = $input;
  $1 = $input == R_NilValue && BDLR_TAKES_NULL("$symname", "$1_name")
           ? NULL : ($1_ltype)bdlr_handle($input, KIND, 0, "$symname", "$1_name");
}
%typemap(in) TYPE * (SEXP given) {
  given = $input;
  $1 = $input == R_NilValue && BDLR_TAKES_NULL("$symname", "$1_name")
           ? NULL : ($1_ltype)bdlr_handle($input, KIND, !strstr("$symname", "_request_stop"), "$symname", "$1_name");
}
%typemap(freearg) const TYPE *, TYPE * { bdlr_inherit(r_ans, given$argnum); }
%typemap(in, numinputs=0) TYPE ** (TYPE *address, SEXP handle) {
  address = NULL;
  PROTECT(handle = bdlr_new_handle(KIND));
  ++r_nprotect;
  $1 = &address;
}
%typemap(argout) TYPE ** {
  R_SetExternalPtrAddr(handle$argnum, address$argnum);
  r_ans = bdlr_output($result, $n, "$1_name", handle$argnum);
}
%typemap(in) TYPE **WANTED (TYPE *address, SEXP handle) {
  address = NULL;
  PROTECT(handle = bdlr_new_handle(KIND));
  ++r_nprotect;
  $1 = bdlr_logical($input, "$symname", "$1_name") ? &address : NULL;
}
%typemap(argout) TYPE **WANTED {
  R_SetExternalPtrAddr(handle$argnum, address$argnum);
  r_ans = bdlr_output($result, $n, "$1_name", $1 ? handle$argnum : R_NilValue);
}
%enddef
BDLR_HANDLE(bdl_model, BDLR_MODEL)
BDLR_HANDLE(bdl_posterior, BDLR_POSTERIOR)
BDLR_HANDLE(bdl_optimizer, BDLR_OPTIMIZER)
BDLR_HANDLE(bdl_predictor, BDLR_PREDICTOR)
BDLR_HANDLE(bdl_search, BDLR_SEARCH)
BDLR_HANDLE(bdl_dataset, BDLR_DATASET)
BDLR_HANDLE(bdl_communicator, BDLR_COMMUNICATOR)

/* Members of an ensemble: a list of lists (model, posterior). */
%typemap(in) (const bdl_model *const *models, const bdl_posterior *const *posteriors, int64_t count) (SEXP given) {
  given = $input;
  $1 = ($1_ltype)bdlr_members($input, (const bdl_posterior ***)&$2, &$3, "$symname", "members");
}
%typemap(argout) (const bdl_model *const *models, const bdl_posterior *const *posteriors, int64_t count) ""
%typemap(freearg) (const bdl_model *const *models, const bdl_posterior *const *posteriors, int64_t count) {
  bdlr_inherit_members(r_ans, given$argnum);
}

/* Callbacks. Functions that the library keeps are kept by the handle, once the call has succeeded. */
%typemap(in) (bdl_progress_fn progress, void *user_data) {
  PROTECT($2 = Rf_cons(bdlr_function($input, "$symname", "$1_name"), optimizer));
  ++r_nprotect;
  $1 = $input == R_NilValue ? NULL : bdlr_on_progress;
}
%typemap(in) (bdl_search_progress_fn progress, void *user_data) {
  PROTECT($2 = Rf_cons(bdlr_function($input, "$symname", "$1_name"), search));
  ++r_nprotect;
  $1 = $input == R_NilValue ? NULL : bdlr_on_search_progress;
}
%typemap(in) (bdl_draws_fn draws, void *user_data, void (*destroy)(void *)) {
  $2 = bdlr_function($input, "$symname", "$1_name");
  $1 = $input == R_NilValue ? NULL : bdlr_on_draws;
  $3 = NULL;
}
%typemap(in) const bdl_model_callbacks *callbacks (bdl_model_callbacks made) {
  made.struct_size = sizeof made;
  made.user_data = bdlr_functions($input, "$symname", "$1_name");
  made.outputs = bdlr_on_outputs;
  made.gradients = VECTOR_ELT($input, 1) == R_NilValue ? NULL : bdlr_on_gradients;
  made.destroy = NULL;
  $1 = &made;
}
%typemap(freearg) (bdl_draws_fn draws, void *user_data, void (*destroy)(void *)) {
  bdlr_keep_draws(optimizer, (SEXP)$2);
}
%typemap(freearg) const bdl_model_callbacks *callbacks {
  bdlr_keep_functions(r_ans, (SEXP)$1->user_data);
}
%typemap(in) (bdl_read_fn read, void *user_data, void (*destroy)(void *)) {
  if ($input == R_NilValue) bdlr_refuse("$symname", "$1_name", "a function", $input);
  $2 = bdlr_function($input, "$symname", "$1_name");
  $1 = bdlr_on_read;
  $3 = NULL;
}
%typemap(freearg) (bdl_read_fn read, void *user_data, void (*destroy)(void *)) {
  bdlr_keep_functions(r_ans, (SEXP)$2);
}
%typemap(in) (bdl_all_gather_fn all_gather, bdl_exchange_fn exchange, void *user_data, void (*destroy)(void *)) {
  PROTECT($3 = bdlr_moves($input, size, "$symname", "$1_name"));
  ++r_nprotect;
  $1 = bdlr_on_all_gather;
  $2 = bdlr_on_exchange;
  $4 = NULL;
}
%typemap(freearg) (bdl_all_gather_fn all_gather, bdl_exchange_fn exchange, void *user_data, void (*destroy)(void *)) {
  bdlr_keep_functions(r_ans, (SEXP)$3);
}
/* An optimizer or search calls them as long as it has the communicator, which may be closed before. */
%typemap(freearg) bdl_communicator *communicator { bdlr_keep_communicator(BDLR_OWNER_$symname, given$argnum); }

/* Handles can be closed before R's collector frees them. */
BDLR_PLAIN(SEXP)
%typemap(in) SEXP { $1 = $input; }
%noexception bdl_handle_close;
%noexception bdl_handle_is_open;
void bdl_handle_close(SEXP handle);
int32_t bdl_handle_is_open(SEXP handle);
bdl_status bdl_mpi_start_world(double timeout, bdl_communicator **communicator);
bdl_status bdl_mpi_from_fortran(int32_t handle, double timeout, bdl_communicator **communicator);
