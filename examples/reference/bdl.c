/* Versions. */
#include "example.h"

int main(void) {
  /* [bdl_check_version] */
  if (BDL_CHECK_VERSION() !=
      BDL_OK) { /* calls bdl_check_version(): before anything else */
    fprintf(stderr, "%s\n", bdl_last_error());
    return 1;
  }
  printf("the library fits the headers\n");
  /* [bdl_check_version] */
  CHECK(bdl_check_version(BDL_VERSION_MAJOR, BDL_VERSION_MINOR,
                          BDL_VERSION_PATCH));

  /* [bdl_version] */
  printf("libbdl %s\n", bdl_version());
  /* [bdl_version] */
  EXPECT(strcmp(bdl_version(), BDL_VERSION_STRING) == 0);

  /* [bdl_build_info] */
  const char* info = bdl_build_info();
  printf("%.6s ...\n", info); /* one line: version, compiler, BLAS */
  /* [bdl_build_info] */
  EXPECT(strstr(info, "libbdl") != NULL);
  return 0;
}
