/* Python callables as the library's callbacks. They run on the thread of the call; an exception stays set and ends the
   call, after which it is raised as it was. Arrays are handed over as copies, so none is left dangling. */
#ifndef BDL_PYTHON_CALLBACKS_H
#define BDL_PYTHON_CALLBACKS_H

#include <Python.h>
#include <bdl/bdl.h>
#include <string.h>

#include "calls.h"
#include "handles.h"
#include "views.h"

static size_t item_size(const bdl_matrix* matrix) {
  return matrix->dtype == BDL_F64 ? sizeof(double) : sizeof(float);
}

/* Enters the interpreter; false if it is gone. */
static int enter(PyGILState_STATE* state) {
  if (is_interpreter_gone()) return 0;
  *state = PyGILState_Ensure();
  return 1;
}

/* Copies all elements between matrices of one shape and type. */
static void copy_elements(const bdl_matrix* from, const bdl_matrix_out* to) {
  const size_t size = item_size(from);
  int64_t i, j;
  for (i = 0; i < from->rows; ++i)
    for (j = 0; j < from->cols; ++j)
      memcpy((char*)to->data + (i * to->row_stride + j * to->col_stride) * (int64_t)size,
             (const char*)from->data + (i * from->row_stride + j * from->col_stride) * (int64_t)size, size);
}

/* A new two-dimensional memoryview that owns a copy. */
static PyObject* copy_of(const bdl_matrix* matrix) {
  const size_t size = item_size(matrix);
  PyObject* const bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(matrix->rows * matrix->cols) * (Py_ssize_t)size);
  PyObject *flat, *shaped;
  bdl_matrix_out copy;
  if (!bytes) return NULL;
  copy = bdl_strided_out(PyByteArray_AS_STRING(bytes), (bdl_dtype)matrix->dtype, matrix->rows, matrix->cols, matrix->cols, 1);
  copy_elements(matrix, &copy);
  flat = PyMemoryView_FromObject(bytes);
  Py_DECREF(bytes);
  if (!flat) return NULL;
  shaped = PyObject_CallMethod(flat, "cast", "s(LL)", matrix->dtype == BDL_F64 ? "d" : "f", (long long)matrix->rows,
                               (long long)matrix->cols);
  Py_DECREF(flat);
  return shaped;
}

/* Copies what a callback has returned into the library's array; consumes the result. */
static int32_t take_result(PyObject* result, const char* name, const bdl_matrix_out* out) {
  View view;
  int32_t answer = 1;
  if (!result) return 1;
  if (view_argument(result, name, 0, &view) == 0) {
    if (view.matrix.dtype != out->dtype || view.matrix.rows != out->rows || view.matrix.cols != out->cols) {
      PyErr_Format(PyExc_ValueError, "%s has shape (%lld, %lld) and type %s, expected (%lld, %lld) and %s", name,
                   (long long)view.matrix.rows, (long long)view.matrix.cols, view.buffer.format ? view.buffer.format : "none",
                   (long long)out->rows, (long long)out->cols, out->dtype == BDL_F64 ? "float64" : "float32");
    } else {
      copy_elements(&view.matrix, out);
      answer = 0;
    }
    view_release(&view);
  }
  Py_DECREF(result);
  return answer;
}

static PyObject* call_with_copies(PyObject* function, const bdl_matrix* const* matrices, int count) {
  PyObject* const arguments = PyTuple_New(count);
  PyObject* result = NULL;
  int i;
  if (!arguments) return NULL;
  for (i = 0; i < count; ++i) {
    PyObject* const copy = copy_of(matrices[i]);
    if (!copy) break;
    PyTuple_SET_ITEM(arguments, i, copy);
  }
  if (i == count) result = PyObject_CallObject(function, arguments);
  Py_DECREF(arguments);
  return result;
}

/* user_data: a tuple (outputs, gradients or None), of which the model owns a reference. */
static int32_t call_outputs(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  const bdl_matrix* const given[] = {&parameters, &inputs};
  PyGILState_STATE state;
  int32_t answer = 1;
  if (!enter(&state)) return answer;
  if (!PyErr_Occurred())
    answer = take_result(call_with_copies(PyTuple_GET_ITEM((PyObject*)user_data, 0), given, 2), "outputs", &outputs);
  PyGILState_Release(state);
  return answer;
}

static int32_t call_gradients(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix output_gradients,
                              bdl_matrix_out rows) {
  const bdl_matrix* const given[] = {&parameters, &inputs, &output_gradients};
  PyGILState_STATE state;
  int32_t answer = 1;
  if (!enter(&state)) return answer;
  if (!PyErr_Occurred())
    answer = take_result(call_with_copies(PyTuple_GET_ITEM((PyObject*)user_data, 1), given, 3), "gradient rows", &rows);
  PyGILState_Release(state);
  return answer;
}

static int32_t call_draws(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration, const bdl_posterior* q,
                          bdl_matrix_out draws) {
  PyGILState_STATE state;
  int32_t answer = 1;
  if (!enter(&state)) return answer;
  if (!PyErr_Occurred()) {
    PyObject* const lent = PyCapsule_New((void*)q, "bdl_posterior", NULL);
    if (lent) {
      answer = take_result(PyObject_CallFunction((PyObject*)user_data, "iLLOL", (int)kind, (long long)step,
                                                 (long long)iteration, lent, (long long)draws.rows),
                           "draws", &draws);
      PyCapsule_SetName(lent, expired_name);
      Py_DECREF(lent);
    }
  }
  PyGILState_Release(state);
  return answer;
}

/* A new memoryview of row numbers. */
static PyObject* copy_of_numbers(const int64_t* numbers, int64_t count) {
  PyObject* const bytes = PyBytes_FromStringAndSize((const char*)numbers, (Py_ssize_t)count * (Py_ssize_t)sizeof *numbers);
  PyObject *flat, *shaped;
  if (!bytes) return NULL;
  flat = PyMemoryView_FromObject(bytes);
  Py_DECREF(bytes);
  if (!flat) return NULL;
  shaped = PyObject_CallMethod(flat, "cast", "s", "q");
  Py_DECREF(flat);
  return shaped;
}

/* Copies x and y where they are wanted; consumes the pair. */
static int32_t take_pair(PyObject* pair, const bdl_matrix_out* x, const bdl_matrix_out* y) {
  int32_t answer = 1;
  if (!pair) return 1;
  if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2)
    type_error("rows", pair, "a tuple (x, y)");
  else
    answer = (x->data && take_result(Py_NewRef(PyTuple_GET_ITEM(pair, 0)), "x of the rows read", x) != 0) ||
             (y->data && take_result(Py_NewRef(PyTuple_GET_ITEM(pair, 1)), "y of the rows read", y) != 0);
  Py_DECREF(pair);
  return answer;
}

/* user_data: a callable of row numbers, of which the data set owns a reference. */
static int32_t call_read(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x, bdl_matrix_out y) {
  PyGILState_STATE state;
  int32_t answer = 1;
  if (!enter(&state)) return answer;
  if (!PyErr_Occurred()) {
    PyObject* const numbers = copy_of_numbers(rows, count);
    if (numbers) answer = take_pair(PyObject_CallFunctionObjArgs((PyObject*)user_data, numbers, NULL), &x, &y);
    Py_XDECREF(numbers);
  }
  PyGILState_Release(state);
  return answer;
}

/* Copies what a communicator's method has returned, bytes of a known length; consumes it. */
static int32_t take_bytes(PyObject* result, const char* method, void* to, int64_t bytes) {
  Py_buffer buffer;
  int32_t answer = 1;
  if (!result) return 1;
  if (PyObject_GetBuffer(result, &buffer, PyBUF_SIMPLE) == 0) {
    if (buffer.len != bytes) {
      PyErr_Format(PyExc_ValueError, "%s has returned %zd bytes, expected %lld", method, buffer.len, (long long)bytes);
    } else {
      memcpy(to, buffer.buf, (size_t)bytes);
      answer = 0;
    }
    PyBuffer_Release(&buffer);
  }
  Py_DECREF(result);
  return answer;
}

/* -1 with an exception set. */
static long size_of(PyObject* ranks) {
  PyObject* const size = PyObject_GetAttrString(ranks, "size");
  const long number = size ? PyLong_AsLong(size) : -1;
  Py_XDECREF(size);
  return number;
}

/* An exception that is raised when the call has ended, while a message tells the other ranks of it. */
typedef struct Pending {
  PyObject *type, *value, *traceback;
} Pending;

static Pending set_aside(void) {
  Pending pending;
  PyErr_Fetch(&pending.type, &pending.value, &pending.traceback);
  return pending;
}

/* The first exception is the one to raise. */
static void set_back(Pending pending) {
  if (pending.type) PyErr_Restore(pending.type, pending.value, pending.traceback);
}

static int32_t gather_by(PyObject* object, const void* send, int64_t send_bytes, void* receive, const int64_t* receive_bytes) {
  PyObject* const result = PyObject_CallMethod(object, "all_gather", "N",
                                               PyBytes_FromStringAndSize((const char*)send, (Py_ssize_t)send_bytes));
  PyObject* const all = result ? PySequence_Fast(result, "all_gather has returned no sequence of messages") : NULL;
  const long expected = all ? size_of(object) : -1;
  int32_t answer = 1;
  Py_XDECREF(result);
  if (all && expected >= 0 && PySequence_Fast_GET_SIZE(all) != expected)
    PyErr_Format(PyExc_ValueError, "all_gather has returned %zd messages, expected %ld", PySequence_Fast_GET_SIZE(all),
                 expected);
  if (all && !PyErr_Occurred()) {
    char* to = (char*)receive;
    Py_ssize_t rank;
    answer = 0;
    for (rank = 0; rank < PySequence_Fast_GET_SIZE(all) && answer == 0; to += receive_bytes[rank++])
      answer = take_bytes(Py_NewRef(PySequence_Fast_GET_ITEM(all, rank)), "all_gather", to, receive_bytes[rank]);
  }
  Py_XDECREF(all);
  return answer;
}

/* user_data: an object with `size` and the methods all_gather(message), which returns a sequence of as many messages,
   and exchange(peer, message), which returns the peer's. */
static int32_t call_all_gather(void* user_data, const void* send, int64_t send_bytes, void* receive,
                               const int64_t* receive_bytes) {
  PyGILState_STATE state;
  Pending pending;
  int32_t answer;
  if (!enter(&state)) return 1;
  pending = set_aside();
  answer = gather_by((PyObject*)user_data, send, send_bytes, receive, receive_bytes);
  set_back(pending);
  PyGILState_Release(state);
  return answer;
}

static int32_t call_exchange(void* user_data, int32_t peer, const void* send, int64_t send_bytes, void* receive,
                             int64_t receive_bytes) {
  PyGILState_STATE state;
  Pending pending;
  int32_t answer;
  if (!enter(&state)) return 1;
  pending = set_aside();
  answer = take_bytes(PyObject_CallMethod((PyObject*)user_data, "exchange", "iN", (int)peer,
                                          PyBytes_FromStringAndSize((const char*)send, (Py_ssize_t)send_bytes)),
                      "exchange", receive, receive_bytes);
  set_back(pending);
  PyGILState_Release(state);
  return answer;
}

static void drop_reference(void* user_data) {
  PyGILState_STATE state;
  if (!enter(&state)) return;
  Py_DECREF((PyObject*)user_data);
  PyGILState_Release(state);
}

/* A callable without arguments: true stops. */
static int32_t call_progress(PyObject* function) {
  PyGILState_STATE state;
  int32_t answer = -1;
  if (!enter(&state)) return answer;
  if (!PyErr_Occurred()) {
    PyObject* const result = PyObject_CallNoArgs(function);
    if (result) {
      answer = PyObject_IsTrue(result);
      Py_DECREF(result);
    }
  }
  PyGILState_Release(state);
  return answer;
}

static int32_t fit_progress(void* user_data, const bdl_optimizer* optimizer) {
  (void)optimizer;
  return call_progress((PyObject*)user_data);
}

static int32_t search_progress(void* user_data, const bdl_search* search) {
  (void)search;
  return call_progress((PyObject*)user_data);
}

#endif
