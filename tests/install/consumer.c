/* A user's smallest program: header and library agree on the version. */
#include <stdio.h>
#include <string.h>

#include "bdl/bdl.h"

int main(void) {
  printf("header %s, library %s\n", BDL_VERSION_STRING, bdl_version());
  return strcmp(bdl_version(), BDL_VERSION_STRING) != 0;
}
