/* A callback that fails, and says why. */
#include "example.h"

/* [bdl_set_callback_message] */
static int32_t read_rows(void* user_data, const int64_t* rows,
                         int64_t count, bdl_matrix_out x,
                         bdl_matrix_out y) {
  (void)user_data, (void)rows, (void)count, (void)x, (void)y;
  bdl_set_callback_message("the server does not answer");
  return 1; /* anything but 0 is a failure */
}
/* [bdl_set_callback_message] */

int main(void) {
  const int64_t row = 0;
  double x;
  bdl_dataset* data;
  CHECK(
      bdl_dataset_from_callback(1000, 1, 0, read_rows, NULL, NULL, &data));
  /* [bdl_set_callback_message] */
  bdl_status status = bdl_dataset_read(data, &row, 1, bdl_f64_out(&x, 1, 1),
                                       bdl_none_out());
  printf("%s: %s\n", bdl_status_name(status), bdl_last_error());
  /* [bdl_set_callback_message] */
  EXPECT(status == BDL_ERROR_CALLBACK);
  EXPECT(strstr(bdl_last_error(), "the server does not answer") != NULL);
  bdl_dataset_free(data);
  return 0;
}
