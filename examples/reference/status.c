/* What failed, and why. */
#include "example.h"

int main(void) {
  /* [bdl_status_name] [bdl_last_error] */
  bdl_posterior* q;
  bdl_status status = bdl_posterior_create_low_rank(
      BDL_F64, 10, 11, &q); /* rank > dimension */
  if (status != BDL_OK)
    printf("%s\n%s\n", bdl_status_name(status), bdl_last_error());
  /* [bdl_status_name] [bdl_last_error] */
  EXPECT(status == BDL_ERROR_INVALID_ARGUMENT);
  EXPECT(strcmp(bdl_status_name(status), "BDL_ERROR_INVALID_ARGUMENT") ==
         0);
  EXPECT(
      strcmp(
          bdl_last_error(),
          "bdl_posterior_create_low_rank: rank is 11, expected 0 to 10") ==
      0);
  return 0;
}
