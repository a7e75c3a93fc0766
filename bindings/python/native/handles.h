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

/* Reference to a handle during a call, released when the call is over. */
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

/* Members of an ensemble, each a model and a posterior. */
typedef struct Members {
  PyObject* items;
  const bdl_model** models;
  const bdl_posterior** posteriors;
  Argument* arguments;
  int64_t count;
} Members;

static void members_release(Members* members) {
  int64_t i;
  for (i = 0; members->arguments && i < 2 * members->count; ++i) handle_release(&members->arguments[i]);
  PyMem_Free(members->models);
  PyMem_Free(members->posteriors);
  PyMem_Free(members->arguments);
  Py_XDECREF(members->items);
}

static int members_argument(PyObject* object, const char* name, Members* members) {
  Py_ssize_t size, i;
  members->items = PySequence_Fast(object, "");
  if (!members->items) return type_error(name, object, "a sequence of tuples (model, posterior)");
  size = PySequence_Fast_GET_SIZE(members->items);
  members->models = PyMem_New(const bdl_model*, size ? size : 1);
  members->posteriors = PyMem_New(const bdl_posterior*, size ? size : 1);
  members->arguments = PyMem_Calloc(size ? (size_t)size : 1, 2 * sizeof(Argument));
  if (!members->models || !members->posteriors || !members->arguments) {
    PyErr_NoMemory();
    return -1;
  }
  members->count = size;
  for (i = 0; i < size; ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(members->items, i);
    void *model, *posterior;
    if (!PyTuple_CheckExact(item) || PyTuple_GET_SIZE(item) != 2) return type_error(name, item, "a tuple (model, posterior)");
    if (handle_argument(PyTuple_GET_ITEM(item, 0), name, "bdl_model", READS, &model, &members->arguments[2 * i]) < 0 ||
        handle_argument(PyTuple_GET_ITEM(item, 1), name, "bdl_posterior", READS, &posterior, &members->arguments[2 * i + 1]) < 0)
      return -1;
    members->models[i] = model;
    members->posteriors[i] = posterior;
  }
  return 0;
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
