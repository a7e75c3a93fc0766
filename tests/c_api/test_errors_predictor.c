/* Calls that predictors refuse: those that single predictions refuse. */
#include "refused.h"

enum { N = 4, C = 2, S = 3 };

static trained gaussian, classes;
static bdl_predictor *numbers, *labels;

static int setup(void** state) {
  (void)state;
  gaussian = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  classes = trained_create(BDL_F64, BDL_BERNOULLI, 2);
  OK(bdl_predictor_create(gaussian.model, gaussian.posterior, BDL_MONTE_CARLO, S, 1, &numbers));
  OK(bdl_predictor_create(classes.model, classes.posterior, BDL_MONTE_CARLO, S, 1, &labels));
  watch(&gaussian);
  return 0;
}

static int teardown(void** state) {
  (void)state;
  bdl_predictor_free(numbers);
  bdl_predictor_free(labels);
  bdl_predictor_free(NULL);
  trained_free(&gaussian);
  trained_free(&classes);
  return 0;
}

static bdl_predictor* untouched(void) {
  bdl_predictor* pattern = NULL;
  memset(&pattern, 0xA5, sizeof pattern);
  return pattern;
}

#define REFUSES_TO_CREATE(status, fragment, model, posterior, method, samples)                        \
  do {                                                                                                \
    bdl_predictor* made = untouched();                                                                \
    REFUSED(status, fragment,                                                                         \
            bdl_predictor_create(model, posterior, (bdl_predict_method)(method), samples, 1, &made)); \
    assert_ptr_equal(made, untouched());                                                              \
  } while (0)

static void test_creation(void** state) {
  const bdl_model* m = gaussian.model;
  const bdl_posterior* q = gaussian.posterior;
  bdl_posterior *single, *small;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F32, gaussian.parameters, 2, &single));
  OK(bdl_posterior_create_full(BDL_F64, gaussian.parameters - 1, &small));
  REFUSES_TO_CREATE(INVALID, "model is NULL", NULL, q, BDL_MONTE_CARLO, S);
  REFUSES_TO_CREATE(INVALID, "posterior is NULL", m, NULL, BDL_MONTE_CARLO, S);
  REFUSES_TO_CREATE(BDL_ERROR_SHAPE, "posterior is f32, the model f64", m, single, BDL_MONTE_CARLO, S);
  REFUSES_TO_CREATE(BDL_ERROR_SHAPE, "posterior has 16 parameters, the model 17", m, small, BDL_PLUG_IN, S);
  REFUSES_TO_CREATE(INVALID, "method is 0, expected 1 to 6", m, q, 0, S);
  REFUSES_TO_CREATE(INVALID, "method is 7, expected 1 to 6", m, q, 7, S);
  REFUSES_TO_CREATE(INVALID, "samples is 0", m, q, BDL_MONTE_CARLO, 0);
  REFUSES_TO_CREATE(INVALID, "samples is -1", m, q, BDL_LINEARIZED_MONTE_CARLO, -1);
  REFUSES_TO_CREATE(BDL_ERROR_UNSUPPORTED, "quadrature needs", m, q, BDL_QUADRATURE, 0);
  REFUSED(INVALID, "predictor is NULL", bdl_predictor_create(m, q, BDL_MONTE_CARLO, S, 1, NULL));
  bdl_posterior_free(single);
  bdl_posterior_free(small);
}

/* The functions with correct outputs; classes are asked of the predictor that has them. */
typedef bdl_status (*prediction)(bdl_predictor*, bdl_matrix x);

static bdl_status moments(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_moments(p, x, into(N, C), bdl_none_out(), bdl_none_out());
}
static bdl_status quantiles(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_quantiles(p, x, given(1, 1), into(N, C));
}
static bdl_status interval(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_interval(p, x, 0.9, into(N, C), bdl_f64_out(out.matrix + 100, N, C));
}
static bdl_status class_of(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_classes(p == numbers ? labels : p, x, into(N, C), bdl_none_out(), bdl_none_out());
}
static bdl_status log_density(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_log_density(p, x, given(N, C), into(N, 1));
}
static bdl_status draws(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_draws(p, x, into(N, S * C));
}
static bdl_status quantiles_of(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_quantiles_of(p, x, BDL_QUANTITY_MEAN, given(1, 1), into(N, C));
}
static bdl_status draws_of(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_draws_of(p, x, BDL_QUANTITY_LINK, into(N, S * C));
}
static bdl_status log_likelihood(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_log_likelihood(p, x, given(N, C), into(S, N));
}
static bdl_status law(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_output_distribution(p, x, into(N, C), bdl_f64_out(out.matrix + 100, N, C * C));
}
static bdl_status leverage(bdl_predictor* p, bdl_matrix x) {
  return bdl_predictor_leverage(p, x, into(N, 1), bdl_f64_out(out.matrix + 100, N, 1));
}

static const struct {
  const char* name;
  prediction call;
} predictions[] = {{"bdl_predictor_quantiles_of(", quantiles_of},
                   {"bdl_predictor_draws_of(", draws_of},
                   {"bdl_predictor_log_likelihood(", log_likelihood},
                   {"bdl_predictor_moments(", moments},
                   {"bdl_predictor_quantiles(", quantiles},
                   {"bdl_predictor_interval(", interval},
                   {"bdl_predictor_classes(", class_of},
                   {"bdl_predictor_log_density(", log_density},
                   {"bdl_predictor_draws(", draws},
                   {"bdl_predictor_output_distribution(", law},
                   {"bdl_predictor_leverage(", leverage}};
enum { PREDICTIONS = 11 };

static void all_refuse(bdl_status status, const char* fragment, bdl_predictor* p, bdl_matrix x) {
  for (int i = 0; i < PREDICTIONS; ++i)
    refused_at(status, fragment, predictions[i].call(p, x), predictions[i].name, __FILE__, __LINE__);
}

static void test_inputs(void** state) {
  (void)state;
  all_refuse(INVALID, "predictor is NULL", NULL, given(N, INPUTS));
  for (int i = 0; i < BAD_SHAPES; ++i) {
    const bad_matrix b = bad_shape(i, given(N, INPUTS), "x");
    all_refuse(b.status, b.fragment, numbers, b.matrix);
  }
  for (int i = 0; i < 3; ++i)
    all_refuse(BDL_ERROR_NOT_FINITE, "x is not finite at row 3, column 1", numbers,
               spoiled(N, INPUTS, N - 1, 1, not_finite(i)));
  REFUSES_INPUTS("y", N, C, bdl_predictor_log_density(numbers, given(N, INPUTS), wrong, into(N, 1)));
  REFUSED(INVALID, "levels is 2",
          bdl_predictor_quantiles(numbers, given(N, INPUTS), spoiled(1, 1, 0, 0, 2), into(N, C)));
  REFUSED(INVALID, "probability is 1",
          bdl_predictor_interval(numbers, given(N, INPUTS), 1, into(N, C), bdl_none_out()));
}

/* An output may be absent; otherwise it must be right. */
#define REFUSES_OUTPUT(name, rows, cols, call)                         \
  for (int number = 1; number < BAD_OUTPUTS; ++number) {               \
    const bad_matrix b = bad_output(number, into(rows, cols), name);   \
    const bdl_matrix_out wrong = b.output;                             \
    refused_at(b.status, b.fragment, call, #call, __FILE__, __LINE__); \
  }

static void test_outputs(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  static double apart[N * C]; /* outputs that overlap are refused as well */
  const bdl_matrix_out none = bdl_none_out(), good = bdl_f64_out(apart, N, C);
  (void)state;
  REFUSES_OUTPUT("mean", N, C, bdl_predictor_moments(numbers, x, wrong, none, none));
  REFUSES_OUTPUT("epistemic_variance", N, C, bdl_predictor_moments(numbers, x, good, wrong, none));
  REFUSES_OUTPUT("noise_variance", N, C, bdl_predictor_moments(numbers, x, good, none, wrong));
  REFUSES_OUTPUT("quantiles", N, 2 * C, bdl_predictor_quantiles(numbers, x, given(1, 2), wrong));
  REFUSES_OUTPUT("lower", N, C, bdl_predictor_interval(numbers, x, 0.9, wrong, good));
  REFUSES_OUTPUT("upper", N, C, bdl_predictor_interval(numbers, x, 0.9, good, wrong));
  REFUSES_OUTPUT("probabilities", N, C, bdl_predictor_classes(labels, x, wrong, none, none));
  REFUSES_OUTPUT("entropy", N, C, bdl_predictor_classes(labels, x, good, wrong, none));
  REFUSES_OUTPUT("mutual_information", N, C, bdl_predictor_classes(labels, x, good, none, wrong));
  REFUSES_OUTPUT("log_density", N, 1, bdl_predictor_log_density(numbers, x, given(N, C), wrong));
  REFUSES_OUTPUT("draws", N, S * C, bdl_predictor_draws(numbers, x, wrong));
  REFUSES_OUTPUT("draws", N, S * C, bdl_predictor_draws_of(numbers, x, BDL_QUANTITY_MEAN, wrong));
  REFUSES_OUTPUT("log_likelihood", S, N, bdl_predictor_log_likelihood(numbers, x, given(N, C), wrong));
  REFUSES_OUTPUT("mean", N, C, bdl_predictor_output_distribution(numbers, x, wrong, none));
  REFUSES_OUTPUT("covariance", N, C * C, bdl_predictor_output_distribution(numbers, x, good, wrong));
  REFUSES_OUTPUT("leverage", N, 1, bdl_predictor_leverage(numbers, x, wrong, none));
  REFUSES_OUTPUT("left_out", N, 1, bdl_predictor_leverage(numbers, x, none, wrong));
}

static void test_likelihoods_and_methods(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  bdl_predictor *plug_in, *closed;
  (void)state;
  REFUSED(BDL_ERROR_UNSUPPORTED, "has no quantiles",
          bdl_predictor_quantiles(labels, x, given(1, 1), into(N, C)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "has no classes",
          bdl_predictor_classes(numbers, x, into(N, C), bdl_none_out(), bdl_none_out()));
  OK(bdl_predictor_create(gaussian.model, gaussian.posterior, BDL_PLUG_IN, 0, 1, &plug_in));
  OK(bdl_predictor_create(gaussian.model, gaussian.posterior, BDL_LINEARIZED, 0, 1, &closed));
  REFUSED(BDL_ERROR_UNSUPPORTED, "draws need method", bdl_predictor_draws(plug_in, x, into(N, S * C)));
  REFUSED(INVALID, "samples is 0", bdl_predictor_draws(closed, x, into(N, S * C)));
  bdl_predictor_free(plug_in);
  bdl_predictor_free(closed);
}

int test_errors_predictor(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_creation), cmocka_unit_test(test_inputs),
                                     cmocka_unit_test(test_outputs),
                                     cmocka_unit_test(test_likelihoods_and_methods)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
