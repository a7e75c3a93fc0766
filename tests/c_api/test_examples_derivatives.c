/* Jacobians, Hessians and correlated noise, the way a newcomer would call them. test_examples.c has the other
 * functions of models. */
#include <unistd.h>

#include "c_api_test.h"

/* Logistic regression f = theta_1 + theta_0 x: the Jacobian is (x, 1), and an example adds
 * p (1 - p) (x, 1)^T (x, 1) to the Hessian; at theta = 0 that factor is 1/4. */
static void example_hessian(void** state) {
  const int64_t sizes[] = {1, 1};
  const double theta[] = {0, 0}, x[] = {1, 3}, y[] = {0, 1}, vectors[] = {1, 0, 0, 1};
  double jacobian[4], hessian[4], products[4];
  bdl_model* model;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_BERNOULLI, &model));
  OK(bdl_model_jacobian(model, bdl_f64(theta, 1, 2), bdl_f64(x, 2, 1), bdl_f64_out(jacobian, 2, 2)));
  assert_true(jacobian[0] == 1 && jacobian[1] == 1 && jacobian[2] == 3 && jacobian[3] == 1);

  OK(bdl_model_hessian(model, bdl_f64(theta, 1, 2), bdl_f64(x, 2, 1), bdl_f64(y, 2, 1),
                       bdl_f64_out(hessian, 2, 2)));
  assert_true(fabs(hessian[0] - 10.0 / 4) < 1e-15 && fabs(hessian[1] - 4.0 / 4) < 1e-15);
  assert_true(hessian[2] == hessian[1] && fabs(hessian[3] - 2.0 / 4) < 1e-15);

  /* Where D x D is too much: the products alone. */
  OK(bdl_model_hessian_vector_product(model, bdl_f64(theta, 1, 2), bdl_f64(x, 2, 1), bdl_f64(y, 2, 1),
                                      bdl_f64(vectors, 2, 2), bdl_f64_out(products, 2, 2)));
  for (int k = 0; k < 4; ++k) assert_true(fabs(products[k] - hessian[k]) < 1e-15);
  bdl_model_free(model);
}

/* f = u tanh(w x) has curvature even where its fit is perfect: at y = f only the Jacobian's part is left,
 * away from it the residual bends it. */
static void example_indefinite_hessian(void** state) {
  const int64_t sizes[] = {1, 1, 1};
  const double theta[] = {0, 2}, x = 1, fitted = 0, far = 5; /* w = 0, u = 2 */
  double hessian[4];
  bdl_model* model;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_hessian(model, bdl_f64(theta, 1, 2), bdl_f64(&x, 1, 1), bdl_f64(&fitted, 1, 1),
                       bdl_f64_out(hessian, 2, 2)));
  assert_true(hessian[0] == 4 && hessian[1] == 0 && hessian[3] == 0); /* J = (u x, tanh(w x)) = (2, 0) */
  OK(bdl_model_hessian(model, bdl_f64(theta, 1, 2), bdl_f64(&x, 1, 1), bdl_f64(&far, 1, 1),
                       bdl_f64_out(hessian, 2, 2)));
  assert_true(hessian[0] == 4 && hessian[1] == -5 && hessian[3] == 0); /* (f - y) d^2 f / dw du = -5 */
  bdl_model_free(model);
}

/* Two outputs whose errors have correlation 0.8. */
static void example_noise_covariance(void** state) {
  const int64_t sizes[] = {1, 2};
  const double theta[] = {0, 0}, x = 1, y[] = {1, 1}, pi = acos(-1.0);
  double covariance[] = {1, 0.8, 0.8, 1}, log_likelihood = 0, rows[2], hessian[4], precision = 4;
  bdl_model* model;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_set_noise_covariance(model, bdl_f64(covariance, 2, 2)));
  memset(covariance, 0, sizeof covariance);
  OK(bdl_model_get_noise_covariance(model, bdl_f64_out(covariance, 2, 2)));
  assert_true(covariance[0] == 1 && covariance[1] == 0.8 && covariance[2] == 0.8 && covariance[3] == 1);
  assert_int_equal(bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)),
                   BDL_ERROR_UNSUPPORTED);

  /* R^-1 (1, 1) = (1, 1) / 1.8 and det R = 0.36. */
  OK(bdl_model_log_likelihood(model, bdl_f64(theta, 1, 2), bdl_f64(&x, 1, 1), bdl_f64(y, 1, 2),
                              bdl_f64_out(&log_likelihood, 1, 1)));
  assert_true(fabs(log_likelihood + log(2 * pi) + 0.5 * log(0.36) + 1 / 1.8) < 1e-14);
  OK(bdl_model_gradient_rows(model, bdl_f64(theta, 1, 2), bdl_f64(&x, 1, 1), bdl_f64(y, 1, 2),
                             bdl_f64_out(rows, 1, 2)));
  assert_true(fabs(rows[0] + 1 / 1.8) < 1e-14 && fabs(rows[1] + 1 / 1.8) < 1e-14);
  OK(bdl_model_hessian(model, bdl_f64(theta, 1, 2), bdl_f64(&x, 1, 1), bdl_f64(y, 1, 2),
                       bdl_f64_out(hessian, 2, 2)));
  assert_true(fabs(hessian[0] - 1 / 0.36) < 1e-14 && fabs(hessian[1] + 0.8 / 0.36) < 1e-14);

  /* Independent again, with variance 1/4. */
  OK(bdl_model_set_noise_precision(model, bdl_f64(&precision, 1, 1)));
  OK(bdl_model_get_noise_covariance(model, bdl_f64_out(covariance, 2, 2)));
  assert_true(covariance[0] == 0.25 && covariance[1] == 0 && covariance[2] == 0 && covariance[3] == 0.25);
  bdl_model_free(model);
}

/* Training leaves a covariance as it is, and files keep it. */
static void example_noise_covariance_is_kept(void** state) {
  const double given[] = {0.5, 0.2, 0.2, 0.3};
  double read[4], before[ROWS], after[ROWS], theta[MOST_PARAMETERS] = {0};
  char path[] = "/tmp/bdl-covariance-XXXXXX";
  const int file = mkstemp(path);
  bdl_model* loaded = NULL;
  (void)state;
  assert_true(file >= 0 && close(file) == 0);
  for (bdl_dtype dtype = BDL_F32; dtype <= BDL_F64; ++dtype)
    for (int method = 0; method < 2; ++method) {
      trained t = untrained_create(dtype, BDL_GAUSSIAN, 2);
      bdl_optimizer* optimizer;
      OK(bdl_model_set_noise_covariance(t.model, bdl_f64(given, 2, 2)));
      OK(bdl_optimizer_create(t.model, t.posterior, method ? "slang-ggn" : "slang", ROWS, &optimizer));
      OK(bdl_optimizer_set_double(optimizer, "learn_from", 0));
      OK(bdl_optimizer_fit(optimizer, x_of(&t.data), y_of(&t.data), 20, NULL, NULL));
      OK(bdl_model_get_noise_covariance(t.model, bdl_f64_out(read, 2, 2)));
      assert_memory_equal(read, given, sizeof given);

      OK(bdl_posterior_mean(t.posterior, bdl_f64_out(theta, 1, t.parameters)));
      OK(bdl_model_log_likelihood(t.model, bdl_f64(theta, 1, t.parameters), x_of(&t.data), y_of(&t.data),
                                  bdl_f64_out(before, ROWS, 1)));
      OK(bdl_save(path, NULL, NULL, optimizer));
      bdl_optimizer_free(optimizer);
      OK(bdl_load(path, NULL, &loaded, NULL, NULL));
      OK(bdl_model_get_noise_covariance(loaded, bdl_f64_out(read, 2, 2)));
      assert_memory_equal(read, given, sizeof given);
      OK(bdl_model_log_likelihood(loaded, bdl_f64(theta, 1, t.parameters), x_of(&t.data), y_of(&t.data),
                                  bdl_f64_out(after, ROWS, 1)));
      assert_memory_equal(before, after, sizeof before);
      bdl_model_free(loaded);
      trained_free(&t);
    }
  assert_int_equal(unlink(path), 0);
}

/* Any memory order, either floating type: the same numbers. */
static void example_layouts(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  enum { D = 17 };
  double theta[D], hessian[D * D], columns[D * D], jacobian[2 * ROWS * D], wide[2 * ROWS * (D + 3)];
  float single[D * D];
  const bdl_matrix p = bdl_f64(theta, 1, D), x = x_of(&t.data), y = y_of(&t.data);
  double scale = 0;
  (void)state;
  assert_int_equal(t.parameters, D);
  OK(bdl_model_initialize(t.model, BDL_INIT_XAVIER, 3, bdl_f64_out(theta, 1, D)));
  OK(bdl_model_hessian(t.model, p, x, y, bdl_f64_out(hessian, D, D)));
  OK(bdl_model_hessian(t.model, p, x, y, bdl_f32_out(single, D, D)));
  OK(bdl_model_hessian_vector_product(t.model, p, x, y, bdl_column_major(hessian, BDL_F64, D, D),
                                      bdl_column_major_out(columns, BDL_F64, D, D)));
  for (int i = 0; i < D * D; ++i) scale = fmax(scale, fabs(hessian[i]));
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      double square = 0; /* H H, by products with its own columns */
      for (int k = 0; k < D; ++k) square += hessian[i * D + k] * hessian[k * D + j];
      assert_true(fabs(columns[i + j * D] - square) < 1e-12 * scale * scale * D);
      assert_true(hessian[i * D + j] == hessian[j * D + i]);
      assert_true(single[i * D + j] == (float)hessian[i * D + j]);
    }
  OK(bdl_model_jacobian(t.model, p, x, bdl_f64_out(jacobian, 2 * ROWS, D)));
  OK(bdl_model_jacobian(t.model, p, x, bdl_strided_out(wide, BDL_F64, 2 * ROWS, D, D + 3, 1)));
  for (int i = 0; i < 2 * ROWS; ++i)
    assert_memory_equal(jacobian + (size_t)i * D, wide + (size_t)i * (D + 3), D * sizeof(double));
  trained_free(&t);
}

int test_examples_derivatives(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_hessian), cmocka_unit_test(example_indefinite_hessian),
      cmocka_unit_test(example_noise_covariance), cmocka_unit_test(example_noise_covariance_is_kept),
      cmocka_unit_test(example_layouts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
