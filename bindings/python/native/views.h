/* Views of Python's buffers (NumPy arrays, array.array, memoryviews): any strides, no copy. */
#ifndef BDL_PYTHON_VIEWS_H
#define BDL_PYTHON_VIEWS_H

#include <Python.h>
#include <bdl/matrix.h>
#include <string.h>

#include "arguments.h"

/* A view and what keeps its memory in place during a call. */
typedef struct View {
  bdl_matrix matrix;
  Py_buffer buffer; /* buffer.obj is NULL if there is none */
} View;

static int32_t dtype_of_format(const char* format, Py_ssize_t item_size) {
  const int big_endian = 1;
  if (!format) return 0; /* bytes */
  if (*format == '@' || *format == '=' || *format == (*(const char*)&big_endian ? '<' : '>')) ++format;
  if (format[0] == '\0' || format[1] != '\0') return 0;
  if (*format == 'd' && item_size == 8) return BDL_F64;
  if (*format == 'f' && item_size == 4) return BDL_F32;
  if ((*format == 'i' || *format == 'l') && item_size == 4) return BDL_I32;
  return 0;
}

static void view_release(View* view) {
  if (view->buffer.obj) PyBuffer_Release(&view->buffer);
}

static int view_refuse(View* view, const char* name, const char* message) {
  PyErr_Format(PyExc_TypeError, "%s %s", name, message);
  view_release(view);
  return -1;
}

/* None is no matrix. Two dimensions are required: whether a vector is a row or a column is for the caller to say. */
static int view_argument(PyObject* object, const char* name, int writable, View* view) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  Py_buffer* const buffer = &view->buffer;
  int32_t dtype;
  memset(view, 0, sizeof *view);
  view->matrix = bdl_none();
  if (object == Py_None) return 0;
  if (PyObject_GetBuffer(object, buffer, flags) < 0) {
    buffer->obj = NULL;
    if (PyObject_CheckBuffer(object) && writable) return view_refuse(view, name, "is read-only, expected a writable array");
    return type_error(name, object, "an array of float32, float64 or int32");
  }
  dtype = dtype_of_format(buffer->format, buffer->itemsize);
  if (!dtype) {
    PyErr_Format(PyExc_TypeError, "%s has elements of format '%s', expected float32, float64 or int32", name,
                 buffer->format ? buffer->format : "B");
    view_release(view);
    return -1;
  }
  if (buffer->ndim != 2) {
    PyErr_Format(PyExc_TypeError, "%s has %d dimensions, expected 2", name, buffer->ndim);
    view_release(view);
    return -1;
  }
  if (buffer->strides[0] % buffer->itemsize != 0 || buffer->strides[1] % buffer->itemsize != 0)
    return view_refuse(view, name, "has strides that are no multiples of its elements' size");
  view->matrix = bdl_strided(buffer->buf, (bdl_dtype)dtype, buffer->shape[0], buffer->shape[1],
                             buffer->strides[0] / buffer->itemsize, buffer->strides[1] / buffer->itemsize);
  return 0;
}

/* Contiguous bytes. */
static int bytes_argument(PyObject* object, const char* name, int writable, Py_buffer* buffer) {
  memset(buffer, 0, sizeof *buffer);
  if (object == Py_None) return 0;
  if (PyObject_GetBuffer(object, buffer, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) == 0) return 0;
  buffer->obj = NULL;
  return type_error(name, object, writable ? "a bytearray" : "bytes");
}

#endif
