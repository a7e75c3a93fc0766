/* Calls that the functions of predict.h refuse. */
#include "refused.h"

enum { N = 4, C = 2, D = 17 };

#define MC BDL_MONTE_CARLO, 3, 1 /* method, samples, seed */

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

/* The twelve functions with correct outputs; classes are asked of a model that has them. */
typedef bdl_status (*prediction)(const bdl_model*, const bdl_posterior*, bdl_matrix x, int method,
                                 int64_t samples);

static bdl_status predict(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                          int64_t samples) {
  const bdl_matrix_out none = bdl_none_out();
  return bdl_predict(m, q, x, (bdl_predict_method)method, samples, 1, into(N, C), none, none);
}
static bdl_status quantiles(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                            int64_t samples) {
  return bdl_predict_quantiles(m, q, x, (bdl_predict_method)method, samples, 1, given(1, 1), into(N, C));
}
static bdl_status interval(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                           int64_t samples) {
  const bdl_matrix_out upper = bdl_f64_out(out.matrix + 100, N, C);
  return bdl_predict_interval(m, q, x, (bdl_predict_method)method, samples, 1, 0.9, into(N, C), upper);
}
static bdl_status log_density(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                              int64_t samples) {
  return bdl_predict_log_density(m, q, x, given(N, C), (bdl_predict_method)method, samples, 1, into(N, 1));
}
static bdl_status class_of(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                           int64_t samples) {
  const bdl_model* c = m == gaussian.model ? two_classes.model : m;
  const bdl_matrix_out none = bdl_none_out();
  return bdl_predict_classes(c, q, x, (bdl_predict_method)method, samples, 1, into(N, C), none, none);
}
static bdl_status draws(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                        int64_t samples) {
  (void)method;
  return bdl_predict_draws(m, q, x, samples, 1, into(N, 3 * C));
}

static bdl_status draws_by(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                           int64_t samples) {
  return bdl_predict_draws_by(m, q, x, (bdl_predict_method)method, samples, 1, into(N, 3 * C));
}
static bdl_status quantiles_of(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                               int64_t samples) {
  return bdl_predict_quantiles_of(m, q, x, (bdl_predict_method)method, samples, 1, BDL_QUANTITY_LINK,
                                  given(1, 1), into(N, C));
}
static bdl_status draws_of(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                           int64_t samples) {
  return bdl_predict_draws_of(m, q, x, (bdl_predict_method)method, samples, 1, BDL_QUANTITY_MEAN,
                              into(N, 3 * C));
}
static bdl_status log_likelihood(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                                 int64_t samples) {
  return bdl_predict_log_likelihood(m, q, x, given(N, C), (bdl_predict_method)method, samples, 1, into(3, N));
}
static bdl_status law(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method, int64_t samples) {
  (void)method;
  (void)samples;
  return bdl_predict_output_distribution(m, q, x, into(N, C), bdl_f64_out(out.matrix + 100, N, C * C));
}
static bdl_status leverage(const bdl_model* m, const bdl_posterior* q, bdl_matrix x, int method,
                           int64_t samples) {
  (void)method;
  (void)samples;
  return bdl_predict_leverage(m, q, x, into(N, 1), bdl_f64_out(out.matrix + 100, N, 1));
}

static const struct {
  const char* name;
  prediction call;
} predictions[] = {{"bdl_predict_quantiles_of(", quantiles_of},
                   {"bdl_predict_draws_of(", draws_of},
                   {"bdl_predict(", predict},
                   {"bdl_predict_quantiles(", quantiles},
                   {"bdl_predict_interval(", interval},
                   {"bdl_predict_log_density(", log_density},
                   {"bdl_predict_classes(", class_of},
                   {"bdl_predict_log_likelihood(", log_likelihood},
                   {"bdl_predict_draws_by(", draws_by},
                   {"bdl_predict_draws(", draws},
                   {"bdl_predict_output_distribution(", law},
                   {"bdl_predict_leverage(", leverage}};
enum { PREDICTIONS = 12, WITH_SAMPLES = 10, WITH_METHOD = 9, WITH_ANY_METHOD = 7 };

static void all_refuse(int count, bdl_status status, const char* fragment, const bdl_model* m,
                       const bdl_posterior* q, bdl_matrix x, int method, int64_t samples) {
  for (int i = 0; i < count; ++i)
    refused_at(status, fragment, predictions[i].call(m, q, x, method, samples), predictions[i].name, __FILE__,
               __LINE__);
}

static void test_handles(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  const bdl_model* m = gaussian.model;
  bdl_posterior *single, *small;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F32, D, 2, &single));
  OK(bdl_posterior_create_full(BDL_F64, D - 1, &small));
  all_refuse(PREDICTIONS, INVALID, "model is NULL", NULL, gaussian.posterior, x, BDL_MONTE_CARLO, 3);
  all_refuse(PREDICTIONS, INVALID, "posterior is NULL", m, NULL, x, BDL_MONTE_CARLO, 3);
  all_refuse(PREDICTIONS, BDL_ERROR_SHAPE, "posterior is f32, the model f64", m, single, x, BDL_MONTE_CARLO,
             3);
  all_refuse(PREDICTIONS, BDL_ERROR_SHAPE, "posterior has 16 parameters, the model 17", m, small, x,
             BDL_MONTE_CARLO, 3);
  bdl_posterior_free(single);
  bdl_posterior_free(small);
}

static void test_methods(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  const bdl_model* m = gaussian.model;
  const bdl_posterior* q = gaussian.posterior;
  (void)state;
  all_refuse(WITH_METHOD, INVALID, "method is 0", m, q, x, 0, 3);
  all_refuse(WITH_METHOD, INVALID, "method is 7", m, q, x, 7, 3);
  all_refuse(WITH_SAMPLES, INVALID, "samples is 0", m, q, x, BDL_MONTE_CARLO, 0);
  all_refuse(WITH_SAMPLES, INVALID, "samples is -1", m, q, x, BDL_MONTE_CARLO, -1);
  all_refuse(WITH_SAMPLES, INVALID, "samples is 9223372036854775807", m, q, x, BDL_MONTE_CARLO, INT64_MAX);
  all_refuse(WITH_METHOD, INVALID, "samples is 0", m, q, x, BDL_LINEARIZED_MONTE_CARLO, 0);
  all_refuse(WITH_ANY_METHOD, BDL_ERROR_UNSUPPORTED, "quadrature needs", m, q, x, BDL_QUADRATURE, 0);
  REFUSED(BDL_ERROR_UNSUPPORTED, "draws need method monte_carlo, local_monte_carlo, linearized or",
          bdl_predict_draws_by(m, q, x, BDL_QUADRATURE, 3, 1, into(N, 3 * C)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "draws need method",
          bdl_predict_draws_by(m, q, x, BDL_PLUG_IN, 3, 1, into(N, 3 * C)));
  REFUSED(INVALID, "samples is 0", bdl_predict_draws_by(m, q, x, BDL_LINEARIZED, 0, 1, into(N, 3 * C)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "log likelihoods need method monte_carlo",
          bdl_predict_log_likelihood(m, q, x, given(N, C), BDL_PLUG_IN, 3, 1, into(3, N)));
  for (int quantity = 0; quantity < 5; quantity += 4) {
    REFUSED(INVALID, quantity ? "quantity is 4, expected 1 to 3" : "quantity is 0, expected 1 to 3",
            bdl_predict_draws_of(m, q, x, BDL_LINEARIZED, 3, 1, (bdl_quantity)quantity, into(N, 3 * C)));
    REFUSED(INVALID, "quantity is ",
            bdl_predict_quantiles_of(m, q, x, MC, (bdl_quantity)quantity, given(1, 1), into(N, C)));
  }
}

static void test_inputs(void** state) {
  const bdl_model* m = gaussian.model;
  const bdl_posterior* q = gaussian.posterior;
  (void)state;
  for (int i = 0; i < BAD_SHAPES; ++i) {
    const bad_matrix b = bad_shape(i, given(N, INPUTS), "x");
    all_refuse(PREDICTIONS, b.status, b.fragment, m, q, b.matrix, BDL_MONTE_CARLO, 3);
  }
  for (int i = 0; i < 3; ++i)
    all_refuse(PREDICTIONS, BDL_ERROR_NOT_FINITE, "x is not finite at row 3, column 1", m, q,
               spoiled(N, INPUTS, N - 1, 1, not_finite(i)), BDL_MONTE_CARLO, 3);
  REFUSES_INPUTS("y", N, C, bdl_predict_log_density(m, q, given(N, INPUTS), wrong, MC, into(N, 1)));
}

/* An output may be absent; otherwise it must be right. */
#define REFUSES_OPTIONAL_OUTPUTS(name, rows, cols, call)               \
  for (int number = 1; number < BAD_OUTPUTS; ++number) {               \
    const bad_matrix b = bad_output(number, into(rows, cols), name);   \
    const bdl_matrix_out wrong = b.output;                             \
    refused_at(b.status, b.fragment, call, #call, __FILE__, __LINE__); \
  }

static void test_outputs(void** state) {
  const bdl_model *m = gaussian.model, *c = two_classes.model, *k = classes.model;
  const bdl_posterior *q = gaussian.posterior, *p = classes.posterior;
  const bdl_matrix x = given(N, INPUTS);
  static double apart[N * C]; /* outputs that overlap are refused as well */
  const bdl_matrix_out none = bdl_none_out(), good = bdl_f64_out(apart, N, C);
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
  REFUSES_OPTIONAL_OUTPUTS("draws", N, 3 * C, bdl_predict_draws_by(m, q, x, BDL_LINEARIZED, 3, 1, wrong));
  REFUSES_OPTIONAL_OUTPUTS("draws", N, 3 * C,
                           bdl_predict_draws_of(m, q, x, BDL_LINEARIZED, 3, 1, BDL_QUANTITY_LINK, wrong));
  REFUSES_OPTIONAL_OUTPUTS(
      "quantiles", N, 2 * C,
      bdl_predict_quantiles_of(m, q, x, BDL_LINEARIZED, 0, 1, BDL_QUANTITY_MEAN, given(1, 2), wrong));
  REFUSES_OPTIONAL_OUTPUTS("log_likelihood", 3, N,
                           bdl_predict_log_likelihood(m, q, x, given(N, C), MC, wrong));
  REFUSES_OPTIONAL_OUTPUTS("mean", N, C, bdl_predict_output_distribution(m, q, x, wrong, none));
  REFUSES_OPTIONAL_OUTPUTS("covariance", N, C * C, bdl_predict_output_distribution(m, q, x, good, wrong));
  REFUSES_OPTIONAL_OUTPUTS("leverage", N, 1, bdl_predict_leverage(m, q, x, wrong, none));
  REFUSES_OPTIONAL_OUTPUTS("left_out", N, 1, bdl_predict_leverage(m, q, x, none, wrong));
}

static void test_levels(void** state) {
  const bdl_model* m = gaussian.model;
  const bdl_posterior* q = gaussian.posterior;
  const bdl_matrix x = given(N, INPUTS);
  const bdl_matrix_out l = into(N, C), u = bdl_f64_out(out.matrix + 100, N, C);
  const double bad_levels[] = {0, 1, -0.1, 1.1, (double)INFINITY};
  (void)state;
  for (int i = 0; i < 5; ++i) {
    REFUSED(i < 4 ? INVALID : BDL_ERROR_NOT_FINITE, "level",
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
  const bdl_matrix x = given(N, INPUTS);
  const bdl_matrix_out l = into(N, 3), u = bdl_f64_out(out.matrix + 100, N, 3);
  const trained *no_quantiles[] = {&classes, &two_classes}, *no_classes[] = {&gaussian, &counts};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    const trained *t = no_quantiles[i], *s = no_classes[i];
    REFUSED(BDL_ERROR_UNSUPPORTED, "",
            bdl_predict_quantiles(t->model, t->posterior, x, MC, given(1, 1), into(N, t->outputs)));
    REFUSED(BDL_ERROR_UNSUPPORTED, "", bdl_predict_interval(t->model, t->posterior, x, MC, 0.9, l, u));
    REFUSED(BDL_ERROR_UNSUPPORTED, "",
            bdl_predict_classes(s->model, s->posterior, x, MC, into(N, s->outputs), bdl_none_out(),
                                bdl_none_out()));
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
  refused_at(BDL_ERROR_UNSUPPORTED, "quadrature needs", predict(m, q, given(N, INPUTS), BDL_QUADRATURE, 0),
             "bdl_predict(", __FILE__, __LINE__);
  REFUSED(BDL_ERROR_UNSUPPORTED, "",
          bdl_predict(counts.model, counts.posterior, given(N, INPUTS), BDL_QUADRATURE, 0, 1, into(N, 1),
                      bdl_none_out(), bdl_none_out()));
  bdl_model_free(m);
  bdl_posterior_free(q);
}

static int32_t half(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  (void)user_data;
  (void)parameters;
  for (int64_t i = 0; i < inputs.rows; ++i) ((double*)outputs.data)[i * outputs.row_stride] = 0.5;
  return 0;
}

/* Predictions that the linearised model cannot make, and a model without gradients. */
static void test_linearized(void** state) {
  const bdl_matrix x = given(N, INPUTS);
  const bdl_matrix_out none = bdl_none_out();
  bdl_model* m;
  bdl_posterior* q;
  (void)state;
  REFUSED(
      BDL_ERROR_UNSUPPORTED, "mutual_information is not given by the probit approximation",
      bdl_predict_classes(classes.model, classes.posterior, x, BDL_LINEARIZED, 0, 1, none, none, into(N, 1)));
  OK(create_user(BDL_F64, INPUTS, 1, 1, BDL_GAUSSIAN, half, NULL, NULL, NULL, &m));
  OK(bdl_posterior_create_full(BDL_F64, 1, &q));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a gradients callback",
          bdl_predict(m, q, x, BDL_LINEARIZED, 0, 1, into(N, 1), none, none));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a gradients callback",
          bdl_predict_output_distribution(m, q, x, none, into(N, 1)));
  bdl_model_free(m);
  bdl_posterior_free(q);
}

int test_errors_predict(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_linearized),  cmocka_unit_test(test_handles),
                                     cmocka_unit_test(test_methods),     cmocka_unit_test(test_inputs),
                                     cmocka_unit_test(test_outputs),     cmocka_unit_test(test_levels),
                                     cmocka_unit_test(test_likelihoods), cmocka_unit_test(test_quadrature)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
