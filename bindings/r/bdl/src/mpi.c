/* Communicators of MPI, by the library libbdl_mpi, which is looked for when it is first asked for: beside libbdl,
   or where the system finds it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

#define LIBRARY "libbdl_mpi.so.0"

/* Open MPI's parts find each other among the global symbols. */
static void* open_library(void) {
  char path[4096];
  Dl_info libbdl;
  void* library = NULL;
  if (dladdr((void*)bdl_version, &libbdl) != 0 && strrchr(libbdl.dli_fname, '/')) {
    const int folder = (int)(strrchr(libbdl.dli_fname, '/') - libbdl.dli_fname);
    snprintf(path, sizeof path, "%.*s/" LIBRARY, folder, libbdl.dli_fname);
    library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  }
  return library ? library : dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
}

/* A function of libbdl_mpi, or NULL, which is reported. */
static void* function_of_mpi(const char* name) {
  static void* library = NULL;
  char message[512];
  void* function = NULL;
  if (!library) library = open_library();
  if (library) function = dlsym(library, name);
  if (function) return function;
  snprintf(message, sizeof message, "libbdl_mpi is needed, which is built where an MPI is found: %.400s", dlerror());
  bdl_report_error(BDL_ERROR_UNSUPPORTED, name, message);
  return NULL;
}

bdl_status bdl_mpi_start_world(double timeout, bdl_communicator** communicator) {
  bdl_status (*world)(double, bdl_communicator**);
  *(void**)&world = function_of_mpi("bdl_communicator_world");
  return world ? world(timeout, communicator) : BDL_ERROR_UNSUPPORTED;
}

bdl_status bdl_mpi_from_fortran(int32_t handle, double timeout, bdl_communicator** communicator) {
  bdl_status (*from_fortran)(int32_t, double, bdl_communicator**);
  *(void**)&from_fortran = function_of_mpi("bdl_communicator_from_fortran");
  return from_fortran ? from_fortran(handle, timeout, communicator) : BDL_ERROR_UNSUPPORTED;
}
