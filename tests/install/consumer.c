/* A user's smallest program: header and library agree on the version. */
#include <stdio.h>
#include <string.h>

#include "bdl/bdl.h"

int main(void) {
  printf("header %s, library %s\n", BDL_VERSION_STRING, bdl_version());
  if (BDL_CHECK_VERSION() == BDL_OK) return strcmp(bdl_version(), BDL_VERSION_STRING) != 0;
  fprintf(stderr, "%s\n", bdl_last_error());
  return 1;
}
