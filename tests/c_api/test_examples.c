/* Every public function once, in the order of the headers, the way a newcomer would call it: models and
 * posteriors. test_examples_training.c has the rest. */
#include "c_api_test.h"

static void example_version(void** state) {
  (void)state;
  if (BDL_CHECK_VERSION() != BDL_OK) fail_msg("%s", bdl_last_error());            /* before anything else */
  OK(bdl_check_version(BDL_VERSION_MAJOR, BDL_VERSION_MINOR, BDL_VERSION_PATCH)); /* the same */
  assert_string_equal(bdl_version(), BDL_VERSION_STRING);
  assert_non_null(strstr(bdl_build_info(), "libbdl"));
}

static void example_errors(void** state) {
  bdl_posterior* q = NULL;
  const bdl_status status = bdl_posterior_create_low_rank(BDL_F64, 10, 11, &q); /* rank > dimension */
  (void)state;
  assert_int_equal(status, BDL_ERROR_INVALID_ARGUMENT);
  assert_string_equal(bdl_status_name(status), "BDL_ERROR_INVALID_ARGUMENT");
  assert_string_equal(bdl_last_error(), "bdl_posterior_create_low_rank: rank is 11, expected 0 to 10");
}

/* Five ways to say where numbers lie; they are never copied. */
static void example_arrays(void** state) {
  const double numbers[] = {1, 2, 3, 4, 5, 6};
  const float singles[] = {1, 2};
  const int32_t labels[] = {0, 1, 1};
  const bdl_matrix c = bdl_f64(numbers, 3, 2), fortran = bdl_column_major(numbers, BDL_F64, 3, 2);
  const bdl_matrix second_column = bdl_strided(numbers + 1, BDL_F64, 3, 1, 2, 1);
  (void)state;
  assert_true(c.row_stride == 2 && c.col_stride == 1);
  assert_true(fortran.row_stride == 1 && fortran.col_stride == 3);
  assert_true(second_column.row_stride == 2);
  assert_true(bdl_f32(singles, 1, 2).dtype == BDL_F32 && bdl_i32(labels, 3, 1).dtype == BDL_I32);
  assert_null(bdl_none().data);
}

/* A network with 2 inputs, 3 hidden units and 1 output. */
static void example_network(void** state) {
  const int64_t sizes[] = {2, 3, 1};
  bdl_model* model;
  const char* name;
  int64_t offset, rows, cols;
  double theta[13];
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  assert_int_equal(bdl_model_parameters(model), 2 * 3 + 3 + 3 + 1);
  assert_int_equal(bdl_model_inputs(model), 2);
  assert_int_equal(bdl_model_outputs(model), 1);
  assert_int_equal(bdl_model_targets(model), 1);

  assert_int_equal(bdl_model_block_count(model), 4);
  OK(bdl_model_block(model, 2, &name, &offset, &rows, &cols));
  assert_string_equal(name, "layer1.weight");
  assert_true(offset == 9 && rows == 1 && cols == 3);

  OK(bdl_model_initialize(model, BDL_INIT_UNIFORM_FAN_IN, 1, bdl_f64_out(theta, 1, 13)));
  assert_true(fabs(theta[0]) > 0 && fabs(theta[0]) < 1 / sqrt(2));
  bdl_model_free(model);
}

/* One network with two noises: a copy is a model of its own. */
static void example_model_copy(void** state) {
  const int64_t sizes[] = {2, 1};
  const double four = 4;
  double precision = 0;
  bdl_model *model, *copy;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_copy(model, &copy));
  OK(bdl_model_set_noise_precision(copy, bdl_f64(&four, 1, 1)));
  OK(bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)));
  assert_true(precision == 1);
  bdl_model_free(model);
  OK(bdl_model_get_noise_precision(copy, bdl_f64_out(&precision, 1, 1)));
  assert_true(precision == 4);
  bdl_model_free(copy);
}

/* One call's output is the next one's input. Any layout will do. */
static void example_outputs(void** state) {
  const int64_t sizes[] = {2, 1};
  const double x[] = {1, 1, 2, 4};
  double theta[2] = {0, 0}, columns[4] = {0}, values[2] = {0, 0};
  float single[2] = {0, 0};
  const bdl_matrix_out parameters = bdl_f64_out(theta, 1, 2),
                       rows = bdl_column_major_out(columns, BDL_F64, 2, 2);
  const bdl_matrix y = bdl_f64(values, 2, 1);
  bdl_model* model;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_initialize(model, BDL_INIT_XAVIER, 1, parameters));
  OK(bdl_model_evaluate(model, bdl_as_input(parameters), bdl_f64(x, 2, 2), bdl_f64_out(values, 2, 1)));
  OK(bdl_model_evaluate(model, bdl_as_input(parameters), bdl_f64(x, 2, 2), bdl_f32_out(single, 2, 1)));
  assert_true(fabs(values[1] - 2 * theta[0] - 4 * theta[1]) < 1e-15 && single[1] == (float)values[1]);
  OK(bdl_model_gradient_rows(model, bdl_as_input(parameters), bdl_f64(x, 2, 2), y, rows));
  assert_true(columns[0] == 0 && columns[3] == 0); /* y is what the model says: no residuals */
  bdl_model_free(model);
}

/* f = 2 x1 - x2 with y = 1 observed at x = (1, 0): the residual is 1. */
static void example_model_values(void** state) {
  const int64_t sizes[] = {2, 1};
  const double theta[] = {2, -1}, x[] = {1, 0}, y[] = {1}, pi = acos(-1.0);
  bdl_model* model;
  double f = 0, log_likelihood = 0, row[2] = {0}, precision = 4;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  precision = 0;
  OK(bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)));
  assert_true(precision == 4);

  OK(bdl_model_evaluate(model, bdl_f64(theta, 1, 2), bdl_f64(x, 1, 2), bdl_f64_out(&f, 1, 1)));
  assert_true(f == 2);
  OK(bdl_model_log_likelihood(model, bdl_f64(theta, 1, 2), bdl_f64(x, 1, 2), bdl_f64(y, 1, 1),
                              bdl_f64_out(&log_likelihood, 1, 1)));
  assert_true(fabs(log_likelihood - (0.5 * log(4 / (2 * pi)) - 0.5 * 4)) < 1e-12);
  OK(bdl_model_gradient_rows(model, bdl_f64(theta, 1, 2), bdl_f64(x, 1, 2), bdl_f64(y, 1, 1),
                             bdl_f64_out(row, 1, 2)));
  assert_true(row[0] == 4 && row[1] == 0); /* noise precision x residual x input */
  bdl_model_free(model);
}

/* Data in any units: Fahrenheit in, dollars out. The model standardises them, and answers in dollars. */
static void example_standardization(void** state) {
  const int64_t sizes[] = {1, 1};
  const double x[] = {50, 68, 86}, y[] = {10000, 20000, 30000}, theta[] = {1}; /* f = x, standardised */
  const double freezing = 32, degree = 1.8;
  double mean = 0, scale = 0, f[3] = {0};
  bdl_model* model;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_standardize(model, bdl_f64(x, 3, 1), bdl_f64(y, 3, 1)));
  OK(bdl_model_get_standardization(model, bdl_f64_out(&mean, 1, 1), bdl_none_out(), bdl_none_out(),
                                   bdl_f64_out(&scale, 1, 1)));
  assert_true(mean == 68 && fabs(scale - 10000 * sqrt(2.0 / 3)) < 1e-9);
  OK(bdl_model_evaluate(model, bdl_f64(theta, 1, 1), bdl_f64(x, 3, 1), bdl_f64_out(f, 3, 1)));
  assert_true(fabs(f[0] - 10000) < 1e-9 && fabs(f[2] - 30000) < 1e-9);

  /* Or by numbers of one's own: degrees Celsius inside, y as it is. */
  OK(bdl_model_set_standardization(model, bdl_f64(&freezing, 1, 1), bdl_f64(&degree, 1, 1), bdl_none(),
                                   bdl_none()));
  OK(bdl_model_evaluate(model, bdl_f64(theta, 1, 1), bdl_f64(x, 3, 1), bdl_f64_out(f, 3, 1)));
  assert_true(fabs(f[0] - 10) < 1e-12 && fabs(f[2] - 30) < 1e-12);
  bdl_model_free(model);
}

/* Noise that differs between examples: the second output is its log precision, here -2 x. */
static void example_heteroscedastic(void** state) {
  const int64_t sizes[] = {1, 2};
  const double x[] = {0, 1}, theta[] = {3, -2}, d[] = {1, 1}, precision = 4;
  double mean[2] = {0}, noise[2] = {0}, read = 0;
  bdl_model* model;
  bdl_posterior* q;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_HETEROSCEDASTIC, &model));
  assert_true(bdl_model_outputs(model) == 2 && bdl_model_targets(model) == 1);
  OK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  OK(bdl_model_get_noise_precision(model, bdl_f64_out(&read, 1, 1)));
  OK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  OK(bdl_posterior_set_low_rank(q, bdl_f64(theta, 1, 2), bdl_none(), bdl_f64(d, 1, 2)));
  OK(bdl_predict(model, q, bdl_f64(x, 2, 1), BDL_PLUG_IN, 0, 0, bdl_f64_out(mean, 2, 1), bdl_none_out(),
                 bdl_f64_out(noise, 2, 1)));
  assert_true(read == 4 && mean[0] == 0 && mean[1] == 3);
  assert_true(fabs(noise[0] - 0.25) < 1e-15 && fabs(noise[1] - 0.25 * exp(2)) < 1e-14);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* Student-t noise: variance nu / (nu - 2) / precision. */
static void example_student_t(void** state) {
  const int64_t sizes[] = {1, 1};
  double degrees = 0;
  bdl_model* model;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_STUDENT_T, &model));
  OK(bdl_model_set_degrees_of_freedom(model, 5));
  OK(bdl_model_get_degrees_of_freedom(model, &degrees));
  assert_true(degrees == 5);
  assert_int_equal(bdl_model_set_degrees_of_freedom(model, 0), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(bdl_model_get_degrees_of_freedom(model, NULL), BDL_ERROR_INVALID_ARGUMENT);
  bdl_model_free(model);
}

/* A model of one's own: exponential decay f(t) = exp(-theta t). */
static int32_t decay(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  const double rate = *(const double*)parameters.data;
  (void)user_data;
  for (int64_t i = 0; i < inputs.rows; ++i) {
    const double t = ((const double*)inputs.data)[i * inputs.row_stride];
    ((double*)outputs.data)[i * outputs.row_stride] = exp(-rate * t);
  }
  return 0;
}

static int32_t decay_gradients(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix seeds,
                               bdl_matrix_out rows) {
  const double rate = *(const double*)parameters.data;
  (void)user_data;
  for (int64_t i = 0; i < inputs.rows; ++i) {
    const double t = ((const double*)inputs.data)[i * inputs.row_stride];
    const double seed = ((const double*)seeds.data)[i * seeds.row_stride];
    ((double*)rows.data)[i * rows.row_stride] = seed * -t * exp(-rate * t);
  }
  return 0;
}

static void example_user_model(void** state) {
  const double rate = 2, times[] = {0, 1};
  double f[2];
  const bdl_model_callbacks callbacks = {
      .struct_size = sizeof callbacks, .outputs = decay, .gradients = decay_gradients};
  bdl_model* model;
  (void)state;
  OK(bdl_model_create_user(BDL_F64, 1, 1, 1, BDL_GAUSSIAN, &callbacks, &model));
  OK(bdl_model_evaluate(model, bdl_f64(&rate, 1, 1), bdl_f64(times, 2, 1), bdl_f64_out(f, 2, 1)));
  assert_true(f[0] == 1 && fabs(f[1] - exp(-2.0)) < 1e-15);
  bdl_model_free(model);
}

/* N(mean, Sigma) with Sigma^-1 = u u^T + I and u = (1, 1): variances 2/3, covariance -1/3. */
static void example_low_rank_posterior(void** state) {
  const double mean[] = {5, 7}, u[] = {1, 1}, ones[] = {1, 1}, vectors[] = {3, 0};
  const int64_t first = 0, second = 1;
  double read[2], diagonal[2], covariance = 0, solution[2], log_det;
  bdl_posterior *q, *copy;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, &q));
  OK(bdl_posterior_set_low_rank(q, bdl_f64(mean, 1, 2), bdl_f64(u, 2, 1), bdl_f64(ones, 1, 2)));
  assert_true(bdl_posterior_dimension(q) == 2 && bdl_posterior_rank(q) == 1);
  OK(bdl_posterior_copy(q, &copy));
  bdl_posterior_free(q); /* the copy is independent */

  OK(bdl_posterior_mean(copy, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 5 && read[1] == 7);
  OK(bdl_posterior_get_low_rank(copy, bdl_f64_out(read, 2, 1), bdl_f64_out(diagonal, 1, 2)));
  assert_true(read[0] == 1 && diagonal[0] == 1);
  OK(bdl_posterior_precision_diagonal(copy, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 2 && read[1] == 2);
  OK(bdl_posterior_marginal_variance(copy, bdl_f64_out(read, 1, 2)));
  assert_true(fabs(read[0] - 2.0 / 3) < 1e-14 && fabs(read[1] - 2.0 / 3) < 1e-14);
  OK(bdl_posterior_covariance(copy, &first, 1, &second, 1, bdl_f64_out(&covariance, 1, 1)));
  assert_true(fabs(covariance + 1.0 / 3) < 1e-14);
  OK(bdl_posterior_solve(copy, bdl_f64(vectors, 1, 2), bdl_f64_out(solution, 1, 2)));
  assert_true(fabs(solution[0] - 2) < 1e-14 && fabs(solution[1] + 1) < 1e-14);
  OK(bdl_posterior_log_det_covariance(copy, &log_det));
  assert_true(fabs(log_det + log(3.0)) < 1e-14);
  bdl_posterior_free(copy);
}

static void example_full_posterior(void** state) {
  const double mean[] = {1, 2}, precision[] = {2, 1, 1, 2}, at_mean[] = {1, 2}, pi = acos(-1.0);
  double density = 0, entropy;
  bdl_posterior* q;
  (void)state;
  OK(bdl_posterior_create_full(BDL_F64, 2, &q));
  OK(bdl_posterior_set_full(q, bdl_f64(mean, 1, 2), bdl_f64(precision, 2, 2)));
  OK(bdl_posterior_log_density(q, bdl_f64(at_mean, 1, 2), bdl_f64_out(&density, 1, 1)));
  assert_true(fabs(density - (0.5 * log(3.0) - log(2 * pi))) < 1e-14);
  OK(bdl_posterior_entropy(q, &entropy));
  assert_true(fabs(entropy - (1 + log(2 * pi) - 0.5 * log(3.0))) < 1e-14);
  bdl_posterior_free(q);
}

/* The average of 4000 draws of N(0, I) is within 4 standard errors (1 / sqrt(4000)) of 0; draw 7 can be made
 * alone. */
static void example_sampling(void** state) {
  static double samples[4000 * 2];
  double sum = 0, seventh[2];
  bdl_posterior* q;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  OK(bdl_posterior_sample(q, 42, 0, bdl_f64_out(samples, 4000, 2)));
  for (int i = 0; i < 4000; ++i) sum += samples[2 * i];
  assert_true(fabs(sum / 4000) < 4 / sqrt(4000.0));
  OK(bdl_posterior_sample(q, 42, 7, bdl_f64_out(seventh, 1, 2)));
  assert_memory_equal(seventh, samples + 14, sizeof seventh);
  bdl_posterior_free(q);
}

/* KL(N(1, 1) || N(0, 1)) = 1/2, against a prior and against another posterior of any family. */
static void example_divergence(void** state) {
  const double mean = 1, one = 1;
  double kl;
  bdl_posterior *q, *p;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, 1, 0, &q));
  OK(bdl_posterior_create_full(BDL_F64, 1, &p));
  OK(bdl_posterior_set_low_rank(q, bdl_f64(&mean, 1, 1), bdl_none(), bdl_f64(&one, 1, 1)));
  OK(bdl_posterior_kl_prior(q, bdl_f64(&one, 1, 1), &kl));
  assert_true(fabs(kl - 0.5) < 1e-14);
  OK(bdl_posterior_kl(q, p, &kl));
  assert_true(fabs(kl - 0.5) < 1e-14);
  bdl_posterior_free(q);
  bdl_posterior_free(p);
}

/* No model at all: one gradient row g of -log p moves N(0, 1).  Sigma^-1 = (1 - b) 1 + b (g^2 + 1) and
 * mu = -a Sigma g for b = 0.5, a = 1, g = 2. */
static void example_update(void** state) {
  const double row = 2, prior = 1;
  double mean = 0, variance = 0;
  bdl_posterior* q;
  (void)state;
  OK(bdl_posterior_create_full(BDL_F64, 1, &q));
  OK(bdl_posterior_update(q, bdl_f64(&row, 1, 1), 1, 1, 0.5, bdl_f64(&prior, 1, 1)));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(&variance, 1, 1)));
  OK(bdl_posterior_mean(q, bdl_f64_out(&mean, 1, 1)));
  assert_true(fabs(variance - 1.0 / 3) < 1e-14);
  assert_true(fabs(mean + 2.0 / 3) < 1e-14);
  bdl_posterior_free(q);
}

int test_examples(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_version),         cmocka_unit_test(example_errors),
      cmocka_unit_test(example_arrays),          cmocka_unit_test(example_network),
      cmocka_unit_test(example_model_values),    cmocka_unit_test(example_standardization),
      cmocka_unit_test(example_user_model),      cmocka_unit_test(example_model_copy),
      cmocka_unit_test(example_outputs),         cmocka_unit_test(example_low_rank_posterior),
      cmocka_unit_test(example_full_posterior),  cmocka_unit_test(example_sampling),
      cmocka_unit_test(example_divergence),      cmocka_unit_test(example_update),
      cmocka_unit_test(example_heteroscedastic), cmocka_unit_test(example_student_t)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
