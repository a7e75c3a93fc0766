/* Handles are capsules that own what they hold: freed once, when nothing refers to them any more, not even a call in
   progress on another thread. */
#ifndef BDL_PYTHON_HANDLES_H
#define BDL_PYTHON_HANDLES_H

#include <Python.h>
#include <bdl/bdl.h>

#include "arguments.h"

/* A handle that was lent for the time of a callback. */
static const char* const expired_name = "expired";

/* Gives NULL for None, which the library refuses where it must. */
static int handle_argument(PyObject* object, const char* name, const char* kind, void** handle) {
  *handle = NULL;
  if (object == Py_None) return 0;
  if (!PyCapsule_CheckExact(object)) return type_error(name, object, kind);
  if (PyCapsule_IsValid(object, kind)) {
    *handle = PyCapsule_GetPointer(object, kind);
    return 0;
  }
  PyErr_Format(PyExc_TypeError, "%s is a handle of %s, expected %s", name, PyCapsule_GetName(object), kind);
  return -1;
}

#define BDL_PYTHON_HANDLE(kind)                                             \
  static void free_##kind(PyObject* capsule) {                              \
    kind##_free((kind*)PyCapsule_GetPointer(capsule, #kind));               \
  }                                                                         \
  static PyObject* new_##kind(kind* handle) {                               \
    PyObject* const capsule = PyCapsule_New(handle, #kind, free_##kind);    \
    if (!capsule) kind##_free(handle);                                      \
    return capsule;                                                         \
  }
BDL_PYTHON_HANDLE(bdl_model)
BDL_PYTHON_HANDLE(bdl_posterior)
BDL_PYTHON_HANDLE(bdl_optimizer)
BDL_PYTHON_HANDLE(bdl_search)
#undef BDL_PYTHON_HANDLE

#endif
