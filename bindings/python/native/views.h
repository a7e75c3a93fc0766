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
  if (*format == 'B' && item_size == 1) return BDL_U8;
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
    return type_error(name, object, "an array of float32, float64, int32 or uint8");
  }
  dtype = dtype_of_format(buffer->format, buffer->itemsize);
  if (!dtype) {
    PyErr_Format(PyExc_TypeError, "%s has elements of format '%s', expected float32, float64, int32 or uint8", name,
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

/* The view of a writable array. */
static bdl_matrix_out view_output(const View* view) {
  const bdl_matrix* const m = &view->matrix;
  return bdl_strided_out(view->buffer.buf, (bdl_dtype)m->dtype, m->rows, m->cols, m->row_stride, m->col_stride);
}

/* Names and views of a sequence of (name, array), in memory of PyMem_Malloc(). */
typedef struct Tensors {
  PyObject* items;
  const char** names;
  bdl_matrix* matrices;
  View* views;
  Py_ssize_t count; /* of views that were made */
} Tensors;

static void tensors_release(Tensors* tensors) {
  while (tensors->count > 0) view_release(&tensors->views[--tensors->count]);
  PyMem_Free(tensors->names);
  PyMem_Free(tensors->matrices);
  PyMem_Free(tensors->views);
  Py_XDECREF(tensors->items);
  memset(tensors, 0, sizeof *tensors);
}

static int tensor_argument(PyObject* item, const char* name, Tensors* tensors) {
  const Py_ssize_t k = tensors->count;
  if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2) return type_error(name, item, "tuples (name, array)");
  if (string_argument(PyTuple_GET_ITEM(item, 0), name, &tensors->names[k]) < 0) return -1;
  if (view_argument(PyTuple_GET_ITEM(item, 1), name, 0, &tensors->views[k]) < 0) return -1;
  tensors->matrices[k] = tensors->views[k].matrix;
  ++tensors->count;
  return 0;
}

static int tensors_argument(PyObject* object, const char* name, Tensors* tensors) {
  Py_ssize_t size, i;
  tensors->items = PySequence_Fast(object, "");
  if (!tensors->items) return type_error(name, object, "a sequence of tuples (name, array)");
  size = PySequence_Fast_GET_SIZE(tensors->items);
  tensors->names = PyMem_New(const char*, size ? size : 1);
  tensors->matrices = PyMem_New(bdl_matrix, size ? size : 1);
  tensors->views = PyMem_New(View, size ? size : 1);
  if (!tensors->names || !tensors->matrices || !tensors->views) {
    PyErr_NoMemory();
    return -1;
  }
  for (i = 0; i < size; ++i)
    if (tensor_argument(PySequence_Fast_GET_ITEM(tensors->items, i), name, tensors) < 0) return -1;
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
