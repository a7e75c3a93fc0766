/* Around every call: signals are looked at while it lasts, and a failure becomes an exception of bdl.errors. */
#ifndef BDL_PYTHON_CALLS_H
#define BDL_PYTHON_CALLS_H

#include <Python.h>
#include <bdl/bdl.h>

/* The thread that ends the interpreter, when it does. Other threads must not enter it any more: it would end them in the
   middle of the library. */
static volatile unsigned long ending_thread = 0;

static int is_interpreter_gone(void) {
  return ending_thread && PyThread_get_thread_ident() != ending_thread;
}

/* Runs Python's signal handlers; an exception of theirs, or of a callback, ends the call. */
static int32_t is_interrupted(void* unused) {
  PyGILState_STATE state;
  int32_t answer;
  (void)unused;
  if (is_interpreter_gone()) return 1;
  state = PyGILState_Ensure();
  answer = PyErr_Occurred() || PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return answer;
}

/* Callbacks make calls within calls, after which the outer one can still be interrupted. */
static _Thread_local int calls_in_progress = 0;

static void begin_call(void) {
  if (calls_in_progress++ == 0) bdl_set_interrupt(is_interrupted, NULL);
}

static void end_call(void) {
  if (--calls_in_progress == 0) bdl_set_interrupt(NULL, NULL);
}

/* Returns -1 with an exception set, else whether the call was stopped. */
static int check_status(bdl_status status) {
  PyObject *errors, *error;
  if (PyErr_Occurred()) return -1;
  if (status == BDL_OK || status == BDL_STOPPED) return status == BDL_STOPPED;
  errors = PyImport_ImportModule("bdl.errors");
  if (!errors) return -1;
  error = PyObject_CallMethod(errors, "error_of_status", "is", (int)status, bdl_last_error());
  Py_DECREF(errors);
  if (!error) return -1;
  PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_DECREF(error);
  return -1;
}

#endif
