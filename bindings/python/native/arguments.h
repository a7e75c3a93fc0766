/* Python numbers and strings as C arguments; what does not fit raises TypeError or OverflowError naming the argument. */
#ifndef BDL_PYTHON_ARGUMENTS_H
#define BDL_PYTHON_ARGUMENTS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#if PY_VERSION_HEX < 0x030A0000 /* Python 3.9 lacks it */
static inline PyObject* Py_NewRef(PyObject* object) {
  Py_INCREF(object);
  return object;
}
#endif

static int type_error(const char* name, PyObject* given, const char* expected) {
  PyErr_Format(PyExc_TypeError, "%s is a %.100s, expected %s", name, Py_TYPE(given)->tp_name, expected);
  return -1;
}

/* NumPy's integers are integers, too; floats are not. */
static int int64_argument(PyObject* object, const char* name, int64_t low, int64_t high, int64_t* value) {
  PyObject* const number = PyNumber_Index(object);
  int overflow = 0;
  if (!number) return type_error(name, object, "an integer");
  *value = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  if (!overflow && *value >= low && *value <= high) return 0;
  PyErr_Format(PyExc_OverflowError, "%s is %R, expected %lld to %lld", name, object, (long long)low, (long long)high);
  return -1;
}

static int uint64_argument(PyObject* object, const char* name, uint64_t* value) {
  PyObject* const number = PyNumber_Index(object);
  if (!number) return type_error(name, object, "an integer");
  *value = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  if (!PyErr_Occurred()) return 0;
  PyErr_Format(PyExc_OverflowError, "%s is %R, expected 0 to 2^64 - 1", name, object);
  return -1;
}

static int double_argument(PyObject* object, const char* name, double* value) {
  *value = PyFloat_AsDouble(object);
  return *value == -1 && PyErr_Occurred() ? type_error(name, object, "a number") : 0;
}

/* None is NULL, which the library refuses where it must. The text lives as long as the object. */
static int string_argument(PyObject* object, const char* name, const char** value) {
  Py_ssize_t length = 0;
  *value = NULL;
  if (object == Py_None) return 0;
  if (!PyUnicode_Check(object)) return type_error(name, object, "a string");
  *value = PyUnicode_AsUTF8AndSize(object, &length);
  if (!*value) return -1;
  if (strlen(*value) == (size_t)length) return 0;
  PyErr_Format(PyExc_ValueError, "%s has a null character", name);
  return -1;
}

/* Numbers of a sequence in memory of PyMem_Malloc(). */
static int int64_array_argument(PyObject* object, const char* name, int64_t** values, int64_t* count) {
  PyObject* const items = PySequence_Fast(object, "");
  Py_ssize_t size, i;
  *values = NULL;
  if (!items) return type_error(name, object, "a sequence of integers");
  size = PySequence_Fast_GET_SIZE(items);
  *values = PyMem_New(int64_t, size ? size : 1);
  if (!*values) PyErr_NoMemory();
  for (i = 0; *values && i < size; ++i)
    if (int64_argument(PySequence_Fast_GET_ITEM(items, i), name, INT64_MIN, INT64_MAX, &(*values)[i]) < 0) {
      PyMem_Free(*values);
      *values = NULL;
    }
  Py_DECREF(items);
  *count = size;
  return *values ? 0 : -1;
}

#endif
