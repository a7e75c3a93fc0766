/* What the functions of predict.h refuse. */
#include "refused.h"

enum { N = 4, C = 2, D = 17 };

static trained gaussian, classes, counts, two_classes;

static int setup(void** state) {
  (void)state;
  gaussian = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  classes = trained_create(BDL_F64, BDL_CATEGORICAL, 2);
  counts = trained_create(BDL_F32, BDL_POISSON, 2);
  two_classes = trained_create(BDL_F64, BDL_BERNOULLI, 2);
  watch(&gaussian);
  return 0;
}

static int teardown(void** state) {
  (void)state;
  trained_free(&gaussian);
  trained_free(&classes);
  trained_free(&counts);
  trained_free(&two_classes);
  return 0;
}

/* Calls of the six functions that are correct but for one thing. */
#define MC BDL_MONTE_CARLO, 3, 1
#define PREDICT(m, q, x, how) bdl_predict(m, q, x, how, into(N, C), bdl_none(), bdl_none())
#define QUANTILES(m, q, x, how) bdl_predict_quantiles(m, q, x, how, given(1, 1), into(N, C))
#define INTERVAL(m, q, x, how) bdl_predict_interval(m, q, x, how, 0.9, into(N, C), bdl_f64(out.matrix + 100, N, C))
#define CLASSES(m, q, x, how) bdl_predict_classes(m, q, x, how, into(N, C), bdl_none(), bdl_none())
#define LOG_DENSITY(m, q, x, how) bdl_predict_log_density(m, q, x, given(N, C), how, into(N, 1))
#define DRAWS(m, q, x, samples) bdl_predict_draws(m, q, x, samples, 1, into(N, 3 * C))

#define ALL_BUT_DRAWS(status, fragment, m, c, q, x, how) \
  do {                                                   \
    REFUSED(status, fragment, PREDICT(m, q, x, how));     \
    REFUSED(status, fragment, QUANTILES(m, q, x, how));   \
    REFUSED(status, fragment, INTERVAL(m, q, x, how));    \
    REFUSED(status, fragment, LOG_DENSITY(m, q, x, how)); \
    REFUSED(status, fragment, CLASSES(c, q, x, how));     \
  } while (0)

static void test_null(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  const bdl_model* m = gaussian.model;
  (void)state;
  ALL_BUT_DRAWS(INVALID, "model is NULL", NULL, NULL, gaussian.posterior, x, MC);
  ALL_BUT_DRAWS(INVALID, "posterior is NULL", m, two_classes.model, NULL, x, MC);
  REFUSED(INVALID, "model is NULL", DRAWS(NULL, gaussian.posterior, x, 3));
  REFUSED(INVALID, "posterior is NULL", DRAWS(m, NULL, x, 3));
}

static void test_handles_that_differ(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  bdl_posterior *single, *small;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F32, D, 2, &single));
  OK(bdl_posterior_create_full(BDL_F64, D - 1, &small));
  ALL_BUT_DRAWS(BDL_ERROR_SHAPE, "posterior is f32, the model f64", gaussian.model, two_classes.model, single, x, MC);
  ALL_BUT_DRAWS(BDL_ERROR_SHAPE, "posterior has 16 parameters, the model 17", gaussian.model, two_classes.model, small, x, MC);
  REFUSED(BDL_ERROR_SHAPE, "posterior is f32", DRAWS(gaussian.model, single, x, 3));
  REFUSED(BDL_ERROR_SHAPE, "posterior has 16 parameters", DRAWS(gaussian.model, small, x, 3));
  bdl_posterior_free(single);
  bdl_posterior_free(small);
}

static void test_methods(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  const bdl_model *m = gaussian.model, *c = two_classes.model;
  const bdl_posterior* q = gaussian.posterior;
  (void)state;
#define METHOD(number, samples) (bdl_predict_method)number, samples, 1
  ALL_BUT_DRAWS(INVALID, "method is 0", m, c, q, x, METHOD(0, 3));
  ALL_BUT_DRAWS(INVALID, "method is 4", m, c, q, x, METHOD(4, 3));
  ALL_BUT_DRAWS(INVALID, "samples is 0", m, c, q, x, METHOD(BDL_MONTE_CARLO, 0));
  ALL_BUT_DRAWS(INVALID, "samples is -1", m, c, q, x, METHOD(BDL_MONTE_CARLO, -1));
  ALL_BUT_DRAWS(INVALID, "samples is 9223372036854775807", m, c, q, x, METHOD(BDL_MONTE_CARLO, INT64_MAX));
  ALL_BUT_DRAWS(BDL_ERROR_UNSUPPORTED, "generalised linear", m, c, q, x, METHOD(BDL_QUADRATURE, 0));
  REFUSED(INVALID, "samples is 0", DRAWS(m, q, x, 0));
  REFUSED(INVALID, "samples is -7", DRAWS(m, q, x, -7));
  REFUSED(INVALID, "samples is 9223372036854775807", DRAWS(m, q, x, INT64_MAX));
}

static void test_inputs(void** state) {
  const bdl_model *m = gaussian.model, *c = two_classes.model;
  const bdl_posterior* q = gaussian.posterior;
  (void)state;
  REFUSES_INPUTS("x", N, INPUTS, PREDICT(m, q, wrong, MC));
  REFUSES_INPUTS("x", N, INPUTS, QUANTILES(m, q, wrong, MC));
  REFUSES_INPUTS("x", N, INPUTS, INTERVAL(m, q, wrong, MC));
  REFUSES_INPUTS("x", N, INPUTS, CLASSES(c, q, wrong, MC));
  REFUSES_INPUTS("x", N, INPUTS, LOG_DENSITY(m, q, wrong, MC));
  REFUSES_INPUTS("x", N, INPUTS, DRAWS(m, q, wrong, 3));
  REFUSES_INPUTS("y", N, C, bdl_predict_log_density(m, q, given(N, INPUTS), wrong, MC, into(N, 1)));
}

/* An output may be absent; otherwise it must be right. */
#define REFUSES_OPTIONAL_OUTPUTS(name, rows, cols, call)               \
  for (int number = 1; number < BAD_OUTPUTS; ++number) {               \
    const bad_matrix b = bad_output(number, into(rows, cols), name);   \
    const bdl_matrix wrong = b.matrix;                                 \
    refused_at(b.status, b.fragment, call, #call, __FILE__, __LINE__); \
  }

static void test_outputs(void** state) {
  const bdl_model *m = gaussian.model, *c = two_classes.model, *k = classes.model;
  const bdl_posterior *q = gaussian.posterior, *p = classes.posterior;
  const bdl_matrix x = given(N, INPUTS), none = bdl_none(), good = bdl_f64(out.matrix + 200, N, C);
  (void)state;
  REFUSES_OPTIONAL_OUTPUTS("mean", N, C, bdl_predict(m, q, x, MC, wrong, none, none));
  REFUSES_OPTIONAL_OUTPUTS("epistemic_variance", N, C, bdl_predict(m, q, x, MC, good, wrong, none));
  REFUSES_OPTIONAL_OUTPUTS("noise_variance", N, C, bdl_predict(m, q, x, MC, good, none, wrong));
  REFUSES_OPTIONAL_OUTPUTS("quantiles", N, 2 * C, bdl_predict_quantiles(m, q, x, MC, given(1, 2), wrong));
  REFUSES_OPTIONAL_OUTPUTS("lower", N, C, bdl_predict_interval(m, q, x, MC, 0.9, wrong, good));
  REFUSES_OPTIONAL_OUTPUTS("upper", N, C, bdl_predict_interval(m, q, x, MC, 0.9, good, wrong));
  REFUSES_OPTIONAL_OUTPUTS("probabilities", N, C, bdl_predict_classes(c, q, x, MC, wrong, none, none));
  REFUSES_OPTIONAL_OUTPUTS("entropy", N, C, bdl_predict_classes(c, q, x, MC, good, wrong, none));
  REFUSES_OPTIONAL_OUTPUTS("mutual_information", N, 1, bdl_predict_classes(k, p, x, MC, none, none, wrong));
  REFUSES_OPTIONAL_OUTPUTS("log_density", N, 1, bdl_predict_log_density(m, q, x, given(N, C), MC, wrong));
  REFUSES_OPTIONAL_OUTPUTS("draws", N, 3 * C, bdl_predict_draws(m, q, x, 3, 1, wrong));
}

static void test_levels(void** state) {
  const bdl_model* m = gaussian.model;
  const bdl_posterior* q = gaussian.posterior;
  const bdl_matrix x = given(N, INPUTS), l = into(N, C), u = bdl_f64(out.matrix + 100, N, C);
  const double bad_levels[] = {0, 1, -0.1, 1.1, (double)INFINITY};
  (void)state;
  for (int i = 0; i < 5; ++i) {
    REFUSED(i < 4 ? INVALID : BDL_ERROR_NOT_FINITE, "levels is ",
            bdl_predict_quantiles(m, q, x, MC, spoiled(1, 3, 0, 2, bad_levels[i]), into(N, 3 * C)));
    REFUSED(INVALID, "probability is ", bdl_predict_interval(m, q, x, MC, bad_levels[i], l, u));
  }
  REFUSED(INVALID, "probability is ", bdl_predict_interval(m, q, x, MC, (double)NAN, l, u));
  REFUSED(BDL_ERROR_NOT_FINITE, "levels is not finite at row 0, column 1",
          bdl_predict_quantiles(m, q, x, MC, spoiled(1, 2, 0, 1, (double)NAN), into(N, 2 * C)));
  REFUSED(BDL_ERROR_SHAPE, "levels has 2 rows", bdl_predict_quantiles(m, q, x, MC, given(2, 1), into(N, C)));
  REFUSED(BDL_ERROR_SHAPE, "levels is empty", bdl_predict_quantiles(m, q, x, MC, bdl_none(), into(N, C)));
}

static void test_likelihoods(void** state) {
  const bdl_matrix x = given(N, INPUTS), l = into(N, 3), u = bdl_f64(out.matrix + 100, N, 3);
  const trained *no_quantiles[] = {&classes, &two_classes}, *no_classes[] = {&gaussian, &counts};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    const trained *t = no_quantiles[i], *s = no_classes[i];
    REFUSED(BDL_ERROR_UNSUPPORTED, "", bdl_predict_quantiles(t->model, t->posterior, x, MC, given(1, 1), into(N, t->outputs)));
    REFUSED(BDL_ERROR_UNSUPPORTED, "", bdl_predict_interval(t->model, t->posterior, x, MC, 0.9, l, u));
    REFUSED(BDL_ERROR_UNSUPPORTED, "", bdl_predict_classes(s->model, s->posterior, x, MC, into(N, s->outputs), bdl_none(), bdl_none()));
  }
}

/* The quadrature needs one output and one layer; both are needed. */
static void test_quadrature(void** state) {
  const int64_t two_outputs[] = {INPUTS, 2};
  bdl_model* m;
  bdl_posterior* q;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, two_outputs, 2, BDL_RELU, 1, BDL_GAUSSIAN, &m));
  OK(bdl_posterior_create_full(BDL_F64, bdl_model_parameters(m), &q));
  REFUSED(BDL_ERROR_UNSUPPORTED, "", PREDICT(m, q, given(N, INPUTS), METHOD(BDL_QUADRATURE, 0)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "", bdl_predict(counts.model, counts.posterior, given(N, INPUTS), METHOD(BDL_QUADRATURE, 0), into(N, 1), bdl_none(), bdl_none()));
  bdl_model_free(m);
  bdl_posterior_free(q);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_null),    cmocka_unit_test(test_handles_that_differ), cmocka_unit_test(test_methods),
      cmocka_unit_test(test_inputs),  cmocka_unit_test(test_outputs),             cmocka_unit_test(test_levels),
      cmocka_unit_test(test_likelihoods), cmocka_unit_test(test_quadrature)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
