/* Shared by the examples of the reference. CHECK ends the program if a call fails,
   EXPECT if a result is not as it should be. A comment with a function's name in
   brackets begins and ends the lines that show the function. */
#ifndef BDL_EXAMPLE_H
#define BDL_EXAMPLE_H

#include <bdl/bdl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check_call(call, #call)
#define EXPECT(condition) \
  check_condition(condition, #condition, __FILE__, __LINE__)

static inline void check_call(bdl_status status, const char* call) {
  if (status == BDL_OK) return;
  fprintf(stderr, "%s\n  returned %s: %s\n", call, bdl_status_name(status),
          bdl_last_error());
  exit(1);
}

static inline void check_condition(int holds, const char* condition,
                                   const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
  exit(1);
}

static inline int near_to(double value, double expected, double tolerance) {
  return fabs(value - expected) <= tolerance;
}

/* Fills in n independent numbers of the distribution N(0, 1), n <= 1000. */
static inline void draw_normal(double* numbers, int64_t n) {
  bdl_posterior* normal;
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 1, 0, &normal));
  CHECK(bdl_posterior_sample(normal, 1, 0, bdl_f64_out(numbers, n, 1)));
  bdl_posterior_free(normal);
}

#endif
