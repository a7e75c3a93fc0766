/* Ends a long call without a second thread. */
#include "example.h"

enum { N = 100 };

/* [bdl_set_interrupt] [bdl_interrupted] */
/* Called about every 10 ms by long calls of this thread. A program looks here for
 * Ctrl-C or a closed window. */
static int32_t user_is_gone(void* user_data) {
  return *(const int*)user_data;
}
/* [bdl_set_interrupt] [bdl_interrupted] */

int main(void) {
  const int64_t sizes[] = {1, 1};
  double x[N], y[N];
  for (int i = 0; i < N; ++i) x[i] = 2.0 * i / (N - 1) - 1, y[i] = 3 * x[i];
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, &q));
  CHECK(bdl_optimizer_create(model, q, "slang-ggn", N, &opt));

  /* [bdl_set_interrupt] */
  int gone = 1;
  bdl_set_interrupt(user_is_gone, &gone);
  bdl_status status = bdl_optimizer_fit(
      opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 100000, NULL, NULL);
  bdl_set_interrupt(NULL, NULL);
  printf("%s\n", bdl_status_name(
                     status)); /* the posterior is as after the last step */
  /* [bdl_set_interrupt] */
  EXPECT(status == BDL_STOPPED);

  EXPECT(bdl_interrupted() == 0);
  /* [bdl_interrupted] */
  bdl_set_interrupt(user_is_gone, &gone);
  if (bdl_interrupted())
    printf("a callback that waits for long gives up here\n");
  bdl_set_interrupt(NULL, NULL);
  /* [bdl_interrupted] */
  EXPECT(bdl_interrupted() == 0);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
  return 0;
}
