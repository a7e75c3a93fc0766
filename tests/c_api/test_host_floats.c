/* A host that traps floating-point exceptions, rounds upwards and flushes subnormal numbers sees no
   traps and identical results, and finds its environment as it left it. */
#define _GNU_SOURCE
#include <fenv.h>

#include "every_method.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
static unsigned vector_control(void) {
  return _mm_getcsr() & ~0x3fU; /* without flags */
}
static void flush_subnormals(void) {
  _mm_setcsr(_mm_getcsr() | 0x8040);
}
#else
static unsigned vector_control(void) {
  return 0;
}
static void flush_subnormals(void) {}
#endif

static void become_difficult(void) {
  assert_int_equal(fesetround(FE_UPWARD), 0);
  flush_subnormals();
  (void)feclearexcept(FE_ALL_EXCEPT);
  (void)feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
}

typedef struct numbers {
  bdl_status status;
  double mean[MOST_PARAMETERS], prediction[ROWS * MOST_OUTPUTS], draws[4 * MOST_PARAMETERS];
} numbers;

/* Everything that the library computes in it. */
static numbers learned(const char* method, int family, const dataset* data, bdl_likelihood likelihood,
                       int* offered) {
  const int64_t outputs = outputs_for(likelihood), sizes[] = {INPUTS, 3, outputs};
  learner l;
  numbers n;
  memset(&n, 0, sizeof n);
  *offered = learner_create(method, family, 2, sizes, 3, likelihood, ROWS, &l) ||
             learner_create(method, family, 2, (const int64_t[]){INPUTS, outputs}, 2, likelihood, ROWS, &l);
  if (!*offered) return n;
  (void)bdl_optimizer_set_int(l.optimizer, "threads", 2);
  n.status = learn(&l, method, x_of(data), y_of(data), 2);
  if (n.status == BDL_OK) {
    const int64_t d = bdl_model_parameters(l.model), c = bdl_model_outputs(l.model);
    OK(bdl_posterior_mean(l.posterior, bdl_f64_out(n.mean, 1, d)));
    OK(bdl_posterior_sample(l.posterior, 1, 0, bdl_f64_out(n.draws, 4, d)));
    OK(bdl_predict(l.model, l.posterior, x_of(data), BDL_MONTE_CARLO, 3, 1,
                   bdl_f64_out(n.prediction, ROWS, c), bdl_none_out(), bdl_none_out()));
  }
  learner_free(&l);
  return n;
}

static int bits_are_the_same(const char* method, int family, bdl_likelihood likelihood) {
  const dataset data = data_for(likelihood); /* which rounding would change */
  fenv_t calm;
  unsigned control;
  int offered = 0, traps, rounding;
  const numbers expected = learned(method, family, &data, likelihood, &offered);
  if (!offered) return 0;
  assert_int_equal(fegetenv(&calm), 0);
  become_difficult();
  control = vector_control();
  const numbers got = learned(method, family, &data, likelihood, &offered);
  const unsigned after = vector_control();
  traps = fegetexcept();
  rounding = fegetround();
  const int raised = fetestexcept(FE_ALL_EXCEPT);
  assert_int_equal(fesetenv(&calm), 0);
  assert_int_equal(after, control);
  assert_int_equal(traps, FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
  assert_int_equal(rounding, FE_UPWARD);
  assert_int_equal(raised & ~FE_INEXACT, 0); /* the test itself rounds */
  assert_int_equal(got.status, expected.status);
  assert_memory_equal(&got, &expected, sizeof got);
  return 1;
}

static void every_method_has_its_bits(void** state) {
  const bdl_likelihood likelihoods[] = {BDL_GAUSSIAN, BDL_CATEGORICAL,
                                        BDL_POISSON}; /* exact ones: one output */
  int64_t i;
  int k, family, runs = 0;
  (void)state;
  for (i = 0; bdl_method_name(i); ++i)
    for (family = 0; family <= FAMILIES; ++family)
      for (k = 0; k < 3; ++k) runs += bits_are_the_same(bdl_method_name(i), family, likelihoods[k]);
  assert_true(runs > 100);
}

/* Numbers that only exist as subnormal ones go through, whatever the host does with its own. */
static void subnormal_numbers_stay(void** state) {
  fenv_t calm;
  bdl_posterior* q = NULL;
  const double mean = 1e-310, precision = 1;
  double got = 0;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, 1, 0, &q));
  assert_int_equal(fegetenv(&calm), 0);
  become_difficult();
  OK(bdl_posterior_set_low_rank(q, bdl_f64(&mean, 1, 1), bdl_none(), bdl_f64(&precision, 1, 1)));
  OK(bdl_posterior_mean(q, bdl_f64_out(&got, 1, 1)));
  assert_int_equal(fesetenv(&calm), 0);
  assert_memory_equal(&got, &mean, sizeof got);
  bdl_posterior_free(q);
}

/* A callback runs in the library's environment, and calls from it find that as well. */
static int32_t look(void* user_data, const bdl_optimizer* optimizer) {
  (void)optimizer;
  if (fegetround() != FE_TONEAREST || fegetexcept() != 0) ++*(int*)user_data;
  return 0;
}

static void callbacks_run_in_the_default_environment(void** state) {
  fenv_t calm;
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  int wrong = 0;
  (void)state;
  assert_int_equal(fegetenv(&calm), 0);
  become_difficult();
  const bdl_status status = bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 2, look, &wrong);
  assert_int_equal(fesetenv(&calm), 0);
  assert_int_equal(status, BDL_OK);
  assert_int_equal(wrong, 0);
  trained_free(&t);
}

int test_host_floats(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_has_its_bits),
                                     cmocka_unit_test(subnormal_numbers_stay),
                                     cmocka_unit_test(callbacks_run_in_the_default_environment)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
