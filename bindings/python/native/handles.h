/* Handles are capsules that own what they hold: freed once, when nothing refers to them any more, not even a call in
   progress on another thread. */
#ifndef BDL_PYTHON_HANDLES_H
#define BDL_PYTHON_HANDLES_H

#include <Python.h>
#include <bdl/bdl.h>

#include "arguments.h"
#include "uses.h"

/* A handle that was lent for the time of a callback. */
static const char* const expired_name = "expired";

/* What stands in a call for a handle; it is released when the call is over. */
typedef struct Argument {
  Held* held;
  int changes;
} Argument;

/* How a call uses a handle. */
enum { READS, CHANGES, STOPS };

/* Gives NULL for None, which the library refuses where it must. */
static int handle_argument(PyObject* object, const char* name, const char* kind, int use, void** handle,
                           Argument* argument) {
  *handle = NULL;
  if (object == Py_None) return 0;
  if (!PyCapsule_CheckExact(object)) return type_error(name, object, kind);
  if (!PyCapsule_IsValid(object, kind)) {
    PyErr_Format(PyExc_TypeError, "%s is a handle of %s, expected %s", name, PyCapsule_GetName(object), kind);
    return -1;
  }
  *handle = PyCapsule_GetPointer(object, kind);
  if (use == STOPS) return 0; /* whatever else is going on */
  argument->changes = use == CHANGES;
  if (uses_begin((Held*)PyCapsule_GetContext(object), argument->changes, name) < 0) return -1;
  argument->held = (Held*)PyCapsule_GetContext(object);
  return 0;
}

static void handle_release(Argument* argument) {
  if (argument->held) uses_end(argument->held, argument->changes);
}

#define BDL_PYTHON_HANDLE(kind)                                          \
  static void free_##kind(PyObject* capsule) {                           \
    held_free((Held*)PyCapsule_GetContext(capsule));                     \
    kind##_free((kind*)PyCapsule_GetPointer(capsule, #kind));            \
  }                                                                      \
  static PyObject* new_##kind(kind* handle) {                            \
    Held* const held = held_new();                                       \
    PyObject* const capsule = held ? PyCapsule_New(handle, #kind, free_##kind) : NULL; \
    if (capsule && PyCapsule_SetContext(capsule, held) == 0) return capsule;           \
    held_free(held);                                                     \
    kind##_free(handle);                                                 \
    return NULL;                                                         \
  }
BDL_PYTHON_HANDLE(bdl_model)
BDL_PYTHON_HANDLE(bdl_posterior)
BDL_PYTHON_HANDLE(bdl_optimizer)
BDL_PYTHON_HANDLE(bdl_predictor)
BDL_PYTHON_HANDLE(bdl_search)
BDL_PYTHON_HANDLE(bdl_dataset)
BDL_PYTHON_HANDLE(bdl_communicator)
#undef BDL_PYTHON_HANDLE

#endif
