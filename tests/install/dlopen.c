/* A host that loads libbdl at run time, as language bindings do: usage dlopen LIBRARY. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bdl/version.h"

int main(int argc, char** argv) {
  const char* (*version)(void);
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* symbol = library ? dlsym(library, "bdl_version") : NULL;
  if (!symbol) {
    fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: dlopen LIBRARY");
    return 1;
  }
  memcpy(&version, &symbol, sizeof version); /* C99 has no cast from object to function pointer */
  printf("loaded %s\n", version());
  const int same = strcmp(version(), BDL_VERSION_STRING) == 0;
  return dlclose(library) != 0 || !same;
}
