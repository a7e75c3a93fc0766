/* Who uses a handle's object: many calls that read it, or one that changes it, within which callbacks may read it. What
   the library would not survive is refused. The interpreter's lock guards the counts. */
#ifndef BDL_PYTHON_USES_H
#define BDL_PYTHON_USES_H

#include <Python.h>
#include <bdl/status.h>

typedef struct Uses {
  int owners, readers;
  unsigned long writer; /* the thread in a call that changes the object; 0: none */
} Uses;

/* A handle's object, and of an optimizer those that its calls use as well. */
enum { OWN, MODEL, POSTERIOR, MOST_USES };
typedef struct Held {
  Uses* uses[MOST_USES];
} Held;

static Held* held_new(void) {
  Held* const held = PyMem_New(Held, 1);
  Uses* const own = PyMem_New(Uses, 1);
  if (!held || !own) {
    PyMem_Free(held);
    PyMem_Free(own);
    PyErr_NoMemory();
    return NULL;
  }
  own->owners = 1;
  own->readers = 0;
  own->writer = 0;
  held->uses[OWN] = own;
  held->uses[MODEL] = held->uses[POSTERIOR] = NULL;
  return held;
}

static void held_free(Held* held) {
  int i;
  if (!held) return;
  for (i = 0; i < MOST_USES; ++i)
    if (held->uses[i] && --held->uses[i]->owners == 0) PyMem_Free(held->uses[i]);
  PyMem_Free(held);
}

static int raise_invalid(const char* name, const char* message) {
  PyObject* const errors = PyImport_ImportModule("bdl.errors");
  PyObject* const kind = errors ? PyObject_GetAttrString(errors, "InvalidArgumentError") : NULL;
  if (kind) PyErr_Format(kind, "%s %s", name, message);
  Py_XDECREF(errors);
  Py_XDECREF(kind);
  return -1;
}

/* held is NULL for what was lent to a callback. */
static int uses_begin(Held* held, int changes, const char* name) {
  const unsigned long thread = PyThread_get_thread_ident();
  int i;
  if (!held) return changes ? raise_invalid(name, "is lent to a callback, which may only read it") : 0;
  if (!changes) {
    for (i = 0; i < MOST_USES; ++i)
      if (held->uses[i] && held->uses[i]->writer && held->uses[i]->writer != thread)
        return raise_invalid(name, "is being changed by another thread");
    for (i = 0; i < MOST_USES; ++i)
      if (held->uses[i]) ++held->uses[i]->readers;
    return 0;
  }
  for (i = 0; i < MOST_USES; ++i)
    if (held->uses[i] && (held->uses[i]->writer || held->uses[i]->readers))
      return raise_invalid(name, "is in use by a call in progress, so it cannot be changed");
  for (i = 0; i < MOST_USES; ++i)
    if (held->uses[i]) held->uses[i]->writer = thread;
  return 0;
}

static void uses_end(Held* held, int changes) {
  int i;
  for (i = 0; i < MOST_USES; ++i) {
    if (!held->uses[i]) continue;
    if (changes)
      held->uses[i]->writer = 0;
    else
      --held->uses[i]->readers;
  }
}

/* An optimizer's calls use its model and posterior. */
static void held_share(Held* optimizer, Held* part, int place) {
  if (!optimizer || !part || optimizer->uses[place]) return;
  optimizer->uses[place] = part->uses[OWN];
  ++part->uses[OWN]->owners;
}

#endif
