/* Jacobians and Hessians in any layout; a noise covariance through training and files. */
#include <unistd.h>

#include "c_api_test.h"

/* Training leaves a covariance as it is, and files keep it. */
static void test_noise_covariance_is_kept(void** state) {
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
static void test_layouts(void** state) {
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

int test_derivatives(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_noise_covariance_is_kept),
                                     cmocka_unit_test(test_layouts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
