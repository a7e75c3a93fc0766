/* The loop of overhead.* in C: microseconds of one bdl_optimizer_step() of a tiny model. */
#include <bdl/bdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(bdl_status status) {
  if (status == BDL_OK) return;
  fprintf(stderr, "%s\n", bdl_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 100000;
  const double x[] = {0.1, 0.2}, y[] = {0.3};
  const int64_t sizes[] = {2, 1};
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  struct timespec from, to;
  check(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  check(bdl_posterior_create_low_rank(BDL_F64, 3, 0, &q));
  check(bdl_optimizer_create(model, q, "slang-ggn", 50, &optimizer));
  check(bdl_optimizer_set_int(optimizer, "threads", 1));
  check(bdl_optimizer_step(optimizer, bdl_f64(x, 1, 2), bdl_f64(y, 1, 1)));
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = 0; i < steps; ++i) check(bdl_optimizer_step(optimizer, bdl_f64(x, 1, 2), bdl_f64(y, 1, 1)));
  clock_gettime(CLOCK_MONOTONIC, &to);
  printf("%.3f\n", ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / 1e3 / steps);
  bdl_optimizer_free(optimizer), bdl_posterior_free(q), bdl_model_free(model);
  return 0;
}
