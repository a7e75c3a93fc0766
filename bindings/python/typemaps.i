/* How values of Python become arguments of the library: numbers, strings, views of buffers, handles, callables. The C behind
   it is in native/. */
%{
#include <bdl/bdl.h>

#include "arguments.h"
#include "callbacks.h"
#include "calls.h"
#include "handles.h"
#include "views.h"
%}

/* A library older than the headers would misread what it is given. */
%init %{
  if (BDL_CHECK_VERSION() != BDL_OK) {
    PyErr_SetString(PyExc_ImportError, bdl_last_error());
    return NULL;
  }
%}

/* Numbers and strings. */
%typemap(in) int64_t { if (int64_argument($input, "$1_name", INT64_MIN, INT64_MAX, &$1) < 0) SWIG_fail; }
%typemap(in) int32_t (int64_t number), enum SWIGTYPE (int64_t number) {
  if (int64_argument($input, "$1_name", INT32_MIN, INT32_MAX, &number) < 0) SWIG_fail;
  $1 = ($1_ltype)number;
}
%typemap(in) uint64_t { if (uint64_argument($input, "$1_name", &$1) < 0) SWIG_fail; }
%typemap(in) double { if (double_argument($input, "$1_name", &$1) < 0) SWIG_fail; }
%typemap(in) const char * {
  const char* text;
  if (string_argument($input, "$1_name", &text) < 0) SWIG_fail;
  $1 = ($1_ltype)text;
}
%typemap(freearg) const char * "";
%typemap(in) const char *path (PyObject* bytes = NULL) {
  if ($input != Py_None && !PyUnicode_FSConverter($input, &bytes)) SWIG_fail;
  $1 = bytes ? PyBytes_AS_STRING(bytes) : NULL;
}
%typemap(freearg) const char *path { Py_XDECREF(bytes$argnum); }
%apply const char *path { const char *x_path, const char *y_path };
%typemap(out) int64_t { $result = PyLong_FromLongLong($1); }
%typemap(out) int32_t { $result = PyLong_FromLong($1); }
%typemap(out) const char * { $result = $1 ? PyUnicode_FromString($1) : Py_NewRef(Py_None); }

/* Results through pointers are returned. */
%typemap(in, numinputs=0) double * (double value) { $1 = &value; }
%typemap(argout) double * { $result = SWIG_Python_AppendOutput($result, PyFloat_FromDouble(*$1)); }
%typemap(in, numinputs=0) int64_t * (int64_t value) { $1 = &value; }
%typemap(argout) int64_t * { $result = SWIG_Python_AppendOutput($result, PyLong_FromLongLong(*$1)); }
%typemap(in, numinputs=0) int32_t * (int32_t value) { $1 = &value; }
%typemap(argout) int32_t * { $result = SWIG_Python_AppendOutput($result, PyLong_FromLong(*$1)); }
%typemap(in, numinputs=0) bdl_option_type * (bdl_option_type value) { $1 = &value; }
%typemap(argout) bdl_option_type * { $result = SWIG_Python_AppendOutput($result, PyLong_FromLong(*$1)); }
%typemap(in, numinputs=0) bdl_predict_method * (bdl_predict_method value) { $1 = &value; }
%typemap(argout) bdl_predict_method * { $result = SWIG_Python_AppendOutput($result, PyLong_FromLong(*$1)); }
%typemap(in, numinputs=0) bdl_likelihood * (bdl_likelihood value) { $1 = &value; }
%typemap(argout) bdl_likelihood * { $result = SWIG_Python_AppendOutput($result, PyLong_FromLong(*$1)); }
%typemap(in, numinputs=0) const char ** (const char* value) { $1 = ($1_ltype)&value; }
%typemap(argout) const char ** { $result = SWIG_Python_AppendOutput($result, PyUnicode_FromString(*$1)); }
%typemap(freearg) const char ** "";

/* A report is a dictionary of its numbers. */
%typemap(in, numinputs=0) bdl_ood_report * (bdl_ood_report report) {
  report.struct_size = sizeof report;
  $1 = &report;
}
%typemap(argout) bdl_ood_report * {
  PyObject* const numbers = Py_BuildValue(
      "{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "auroc", $1->auroc, "aupr", $1->aupr, "aupr_out", $1->aupr_out, "fpr95",
      $1->fpr95, "threshold", $1->threshold, "detection_error", $1->detection_error, "entropy_inside",
      $1->entropy_inside, "entropy_outside", $1->entropy_outside);
  if (!numbers) SWIG_fail;
  $result = SWIG_Python_AppendOutput($result, numbers);
}

/* Given a truth value: whether the result is wanted; False if not (None would be dropped from the list). */
%typemap(in) double *WANTED (double value, int wanted) {
  if ((wanted = PyObject_IsTrue($input)) < 0) SWIG_fail;
  $1 = wanted ? &value : NULL;
}
%typemap(argout) double *WANTED {
  $result = SWIG_Python_AppendOutput($result, $1 ? PyFloat_FromDouble(*$1) : Py_NewRef(Py_False));
}

/* Arrays. */
%typemap(in) bdl_matrix (View view = {0}) {
  if (view_argument($input, "$1_name", 0, &view) < 0) SWIG_fail;
  $1 = view.matrix;
}
%typemap(freearg) bdl_matrix { view_release(&view$argnum); }
%typemap(in) bdl_matrix_out (View view = {0}) {
  if (view_argument($input, "$1_name", 1, &view) < 0) SWIG_fail;
  $1 = view_output(&view);
}
%typemap(freearg) bdl_matrix_out { view_release(&view$argnum); }
%typemap(in) (const int64_t *ARRAY, int64_t COUNT) (int64_t* values = NULL, int64_t count) {
  if (int64_array_argument($input, "$1_name", &values, &count) < 0) SWIG_fail;
  $1 = values;
  $2 = ($2_ltype)count;
}
%typemap(argout) (const int64_t *ARRAY, int64_t COUNT) "";
%typemap(freearg) (const int64_t *ARRAY, int64_t COUNT) { PyMem_Free(values$argnum); }
%apply (const int64_t *ARRAY, int64_t COUNT) {
  (const int64_t *sizes, int32_t size_count), (const int64_t *rows, int64_t row_count), (const int64_t *cols, int64_t col_count),
  (const int64_t *rows, int64_t count)
};
%typemap(in) (const char *const *names, const bdl_matrix *tensors, int64_t tensor_count) (Tensors tensors = {0}) {
  if (tensors_argument($input, "tensors", &tensors) < 0) SWIG_fail;
  $1 = ($1_ltype)tensors.names;
  $2 = tensors.matrices;
  $3 = tensors.count;
}
%typemap(argout) (const char *const *names, const bdl_matrix *tensors, int64_t tensor_count) "";
%typemap(freearg) (const char *const *names, const bdl_matrix *tensors, int64_t tensor_count) { tensors_release(&tensors$argnum); }
%typemap(in) (void *buffer, int64_t capacity) (Py_buffer buffer = {0}) {
  if (bytes_argument($input, "$1_name", 1, &buffer) < 0) SWIG_fail;
  $1 = buffer.buf;
  $2 = buffer.len;
}
%typemap(in) (const void *bytes, int64_t size) (Py_buffer buffer = {0}) {
  if (bytes_argument($input, "$1_name", 0, &buffer) < 0) SWIG_fail;
  $1 = buffer.buf;
  $2 = buffer.len;
}
%typemap(freearg) (void *buffer, int64_t capacity), (const void *bytes, int64_t size) {
  if (buffer$argnum.obj) PyBuffer_Release(&buffer$argnum);
}

/* Handles. */
%define BDL_HANDLE(kind)
%typemap(in) kind * (Argument argument = {0}) {
  void* handle;
  const int use = strstr("$symname", "_request_stop") ? STOPS : CHANGES;
  if (handle_argument($input, "$1_name", #kind, use, &handle, &argument) < 0) SWIG_fail;
  $1 = ($1_ltype)handle;
}
%typemap(in) const kind * (Argument argument = {0}) {
  void* handle;
  if (handle_argument($input, "$1_name", #kind, READS, &handle, &argument) < 0) SWIG_fail;
  $1 = ($1_ltype)handle;
}
%typemap(freearg) kind *, const kind * { handle_release(&argument$argnum); }
%typemap(in, numinputs=0) kind ** (kind* handle = NULL) { $1 = &handle; }
%typemap(argout) kind ** {
  PyObject* const capsule = new_ ## kind(*$1);
  if (!capsule) SWIG_fail;
  $result = SWIG_Python_AppendOutput($result, capsule);
}
%typemap(in) kind **WANTED (kind* handle = NULL, int wanted) {
  if ((wanted = PyObject_IsTrue($input)) < 0) SWIG_fail;
  $1 = wanted ? &handle : NULL;
}
%typemap(argout) kind **WANTED {
  PyObject* const capsule = $1 ? new_ ## kind(*$1) : Py_NewRef(Py_False);
  if (!capsule) SWIG_fail;
  $result = SWIG_Python_AppendOutput($result, capsule);
}
%enddef
BDL_HANDLE(bdl_model)
BDL_HANDLE(bdl_posterior)
BDL_HANDLE(bdl_optimizer)
BDL_HANDLE(bdl_predictor)
BDL_HANDLE(bdl_search)
BDL_HANDLE(bdl_dataset)
BDL_HANDLE(bdl_communicator)

/* A handle that a library on top of this one has made, by its address. */
%nothread own_communicator;
%inline %{
static PyObject* own_communicator(PyObject* address) {
  bdl_communicator* const handle = (bdl_communicator*)PyLong_AsVoidPtr(address);
  return PyErr_Occurred() ? NULL : new_bdl_communicator(handle);
}
%}

/* A sequence of tuples (model, posterior). */
%typemap(in) (const bdl_model *const *models, const bdl_posterior *const *posteriors, int64_t count) (Members members = {0}) {
  if (members_argument($input, "members", &members) < 0) SWIG_fail;
  $1 = ($1_ltype)members.models;
  $2 = ($2_ltype)members.posteriors;
  $3 = members.count;
}
%typemap(argout) (const bdl_model *const *models, const bdl_posterior *const *posteriors, int64_t count) "";
%typemap(freearg) (const bdl_model *const *models, const bdl_posterior *const *posteriors, int64_t count) { members_release(&members$argnum); }

/* Tells an optimizer's handle what its calls change as well. */
%inline %{
static void share_parts(PyObject* optimizer, PyObject* model, PyObject* posterior) {
  Held* const held = PyCapsule_GetContext(optimizer);
  if (PyCapsule_IsValid(model, "bdl_model")) held_share(held, PyCapsule_GetContext(model), MODEL);
  if (PyCapsule_IsValid(posterior, "bdl_posterior")) held_share(held, PyCapsule_GetContext(posterior), POSTERIOR);
}
%}

/* To be called when the interpreter ends. */
%inline %{
static void end_of_interpreter(void) { ending_thread = PyThread_get_thread_ident(); }
%}

/* Handles know their users by the interpreter's one lock, and NumPy serves one interpreter a process. Builds without that lock turn
   it on when they import a module that does not say otherwise, as this one does not. */
%init %{
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError, "bdl works in the main interpreter of a process only, this is a subinterpreter");
    return NULL;
  }
%}

/* Callables, or None. */
%define BDL_PROGRESS(type, trampoline)
%typemap(in) (type progress, void *user_data) {
  if ($input != Py_None && !PyCallable_Check($input)) { type_error("progress", $input, "a callable"); SWIG_fail; }
  $1 = $input == Py_None ? NULL : trampoline;
  $2 = $input;
}
%enddef
BDL_PROGRESS(bdl_progress_fn, fit_progress)
BDL_PROGRESS(bdl_search_progress_fn, search_progress)

/* The library owns a reference to the callables once the call has succeeded. */
%typemap(in) const bdl_model_callbacks *callbacks (bdl_model_callbacks made, int lent = 0) {
  if (!PyTuple_CheckExact($input) || PyTuple_GET_SIZE($input) != 2) {
    type_error("callbacks", $input, "a tuple (outputs, gradients or None)");
    SWIG_fail;
  }
  made.struct_size = sizeof made;
  made.outputs = call_outputs;
  made.gradients = PyTuple_GET_ITEM($input, 1) == Py_None ? NULL : call_gradients;
  made.user_data = $input;
  made.destroy = drop_reference;
  $1 = &made;
}
%typemap(in) (bdl_draws_fn draws, void *user_data, void (*destroy)(void *)) (int lent = 0) {
  if ($input != Py_None && !PyCallable_Check($input)) { type_error("draws", $input, "a callable"); SWIG_fail; }
  $1 = $input == Py_None ? NULL : call_draws;
  $2 = $input;
  $3 = $input == Py_None ? NULL : drop_reference;
}
%typemap(in) (bdl_read_fn read, void *user_data, void (*destroy)(void *)) (int lent = 0) {
  if (!PyCallable_Check($input)) { type_error("read", $input, "a callable"); SWIG_fail; }
  $1 = call_read;
  $2 = $input;
  $3 = drop_reference;
}
%typemap(check) (bdl_read_fn read, void *user_data, void (*destroy)(void *)) {
  Py_INCREF((PyObject*)$2);
  lent$argnum = 1;
}
%typemap(freearg) (bdl_read_fn read, void *user_data, void (*destroy)(void *)) {
  if (lent$argnum && result != BDL_OK) Py_DECREF((PyObject*)$2);
}
%typemap(in) (bdl_all_gather_fn all_gather, bdl_exchange_fn exchange, void *user_data, void (*destroy)(void *)) (int lent = 0) {
  $1 = call_all_gather;
  $2 = call_exchange;
  $3 = $input;
  $4 = drop_reference;
}
%typemap(check) (bdl_all_gather_fn all_gather, bdl_exchange_fn exchange, void *user_data, void (*destroy)(void *)) {
  Py_INCREF((PyObject*)$3);
  lent$argnum = 1;
}
%typemap(freearg) (bdl_all_gather_fn all_gather, bdl_exchange_fn exchange, void *user_data, void (*destroy)(void *)) {
  if (lent$argnum && result != BDL_OK) Py_DECREF((PyObject*)$3);
}
%typemap(check) const bdl_model_callbacks *callbacks {
  Py_INCREF((PyObject*)$1->user_data);
  lent$argnum = 1;
}
%typemap(freearg) const bdl_model_callbacks *callbacks {
  if (lent$argnum && result != BDL_OK) Py_DECREF((PyObject*)$1->user_data);
}
%typemap(check) (bdl_draws_fn draws, void *user_data, void (*destroy)(void *)) {
  Py_INCREF((PyObject*)$2);
  lent$argnum = 1;
}
%typemap(freearg) (bdl_draws_fn draws, void *user_data, void (*destroy)(void *)) {
  if (lent$argnum && (result != BDL_OK || !$1)) Py_DECREF((PyObject*)$2);
}

/* Every call that can fail lets other threads run and is interrupted by signals. */
%typemap(out) bdl_status {
  const int stopped = check_status($1);
  if (stopped < 0) SWIG_fail;
  $result = stopped ? Py_NewRef(Py_True) : Py_NewRef(Py_None);
}
%exception {
  begin_call();
  $action
  end_call();
}
