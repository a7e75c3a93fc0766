/* A host that loads libbdl at run time, as language bindings do: usage dlopen LIBRARY. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bdl/bdl.h"

int main(int argc, char** argv) {
  bdl_status (*check_version)(int32_t major, int32_t minor, int32_t patch);
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* symbol = library ? dlsym(library, "bdl_check_version") : NULL; /* not there: older than 0.2 */
  if (!symbol) {
    fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: dlopen LIBRARY");
    return 1;
  }
  memcpy(&check_version, &symbol, sizeof check_version); /* C99 has no cast from object to function pointer */
  const bdl_status status = check_version(BDL_VERSION_MAJOR, BDL_VERSION_MINOR, BDL_VERSION_PATCH);
  printf("loaded: status %d\n", (int)status);
  return dlclose(library) != 0 || status != BDL_OK;
}
