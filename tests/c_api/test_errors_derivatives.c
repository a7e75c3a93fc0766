/* Calls that the functions of derivatives and correlated noise refuse. */
#include <unistd.h>

#include "refused.h"

static void test_null_model(void** state) {
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "model is NULL", bdl_model_set_noise_covariance(NULL, given(1, 1)));
  REFUSED(INVALID, "model is NULL", bdl_model_get_noise_covariance(NULL, into(1, 1)));
  REFUSED(INVALID, "model is NULL", bdl_model_jacobian(NULL, given(1, 9), given(2, 2), into(4, 9)));
  REFUSED(
      INVALID, "model is NULL",
      bdl_model_hessian_vector_product(NULL, given(1, 9), given(2, 2), given(2, 2), given(1, 9), into(1, 9)));
  REFUSED(INVALID, "model is NULL",
          bdl_model_hessian(NULL, given(1, 9), given(2, 2), given(2, 2), into(9, 9)));
}

static void test_noise_covariance(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2), counts = trained_create(BDL_F64, BDL_POISSON, 2);
  double r[4] = {1, 0.5, 0.5, 1};
  const bdl_matrix m = bdl_f64(r, 2, 2);
  (void)state;
  watch(&t);
  REFUSES_INPUTS("covariance", 2, 2, bdl_model_set_noise_covariance(t.model, wrong));
  REFUSED(BDL_ERROR_SHAPE, "covariance has 1 rows, expected 2",
          bdl_model_set_noise_covariance(t.model, given(1, 2)));
  REFUSED(INVALID, "not positive definite", bdl_model_set_noise_covariance(t.model, given(2, 2)));
  REFUSED(INVALID, "not positive definite", bdl_model_set_noise_covariance(t.model, spoiled(2, 2, 0, 0, -1)));
  r[1] = 0.4;
  REFUSED(INVALID, "covariance is not symmetric at row 1, column 0",
          bdl_model_set_noise_covariance(t.model, m));
  r[1] = r[2] = -1;
  REFUSED(INVALID, "not positive definite", bdl_model_set_noise_covariance(t.model, m));
  REFUSES_OUTPUTS("covariance", 2, 2, bdl_model_get_noise_covariance(t.model, wrong));
  watch(&counts);
  REFUSED(BDL_ERROR_UNSUPPORTED, "likelihood", bdl_model_set_noise_covariance(counts.model, given(1, 1)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "likelihood", bdl_model_get_noise_covariance(counts.model, into(1, 1)));
  watch(NULL);
  r[1] = r[2] = 0.5;
  OK(bdl_model_set_noise_covariance(t.model, m));
  watch(&t);
  REFUSED(BDL_ERROR_UNSUPPORTED, "the noise has a full covariance",
          bdl_model_get_noise_precision(t.model, into(1, 2)));
  REFUSED(INVALID, "not positive definite", bdl_model_set_noise_covariance(t.model, given(2, 2)));
  OK(bdl_model_get_noise_covariance(t.model, bdl_f64_out(r, 2, 2)));
  assert_true(r[0] == 1 && r[1] == 0.5 && r[2] == 0.5 && r[3] == 1); /* the old one is still there */
  trained_free(&t);
  trained_free(&counts);
}

static void test_jacobian(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const int64_t d = t.parameters;
  (void)state;
  watch(&t);
  REFUSES_INPUTS("parameters", 1, d, bdl_model_jacobian(t.model, wrong, given(4, 2), into(8, d)));
  REFUSES_INPUTS("x", 4, 2, bdl_model_jacobian(t.model, given(1, d), wrong, into(8, d)));
  REFUSES_OUTPUTS("jacobian", 8, d, bdl_model_jacobian(t.model, given(1, d), given(4, 2), wrong));
  REFUSED(BDL_ERROR_SHAPE, "jacobian has 4 rows, expected 8",
          bdl_model_jacobian(t.model, given(1, d), given(4, 2), into(4, d)));
  REFUSED(INVALID, "rows of x is 1073741824",
          bdl_model_jacobian(t.model, given(1, d), bdl_strided(out.matrix, BDL_F64, 1 << 30, 2, 0, 0),
                             into(8, d)));
  trained_free(&t);
}

static void test_hessians(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2), classes = trained_create(BDL_F64, BDL_CATEGORICAL, 2);
  const int64_t d = t.parameters, k = classes.parameters;
  const bdl_model* m = t.model;
  const bdl_matrix p = given(1, d), x = given(4, 2), y = given(4, 2), v = given(3, d);
  static double big[17 * 17];
  const bdl_matrix_out square = bdl_f64_out(big, d, d);
  (void)state;
  assert_int_equal(d, 17);
  watch(&t);
  REFUSES_INPUTS("parameters", 1, d, bdl_model_hessian_vector_product(m, wrong, x, y, v, into(3, d)));
  REFUSES_INPUTS("x", 4, 2, bdl_model_hessian_vector_product(m, p, wrong, y, v, into(3, d)));
  REFUSES_INPUTS("y", 4, 2, bdl_model_hessian_vector_product(m, p, x, wrong, v, into(3, d)));
  REFUSES_INPUTS("vectors", 3, d, bdl_model_hessian_vector_product(m, p, x, y, wrong, into(3, d)));
  REFUSES_OUTPUTS("products", 3, d, bdl_model_hessian_vector_product(m, p, x, y, v, wrong));
  REFUSED(BDL_ERROR_SHAPE, "products has 2 rows, expected 3",
          bdl_model_hessian_vector_product(m, p, x, y, v, into(2, d)));
  REFUSED(BDL_ERROR_SHAPE, "y has 3 rows, expected 4",
          bdl_model_hessian_vector_product(m, p, x, given(3, 2), v, into(3, d)));

  REFUSES_INPUTS("parameters", 1, d, bdl_model_hessian(m, wrong, x, y, square));
  REFUSES_INPUTS("x", 4, 2, bdl_model_hessian(m, p, wrong, y, square));
  REFUSES_INPUTS("y", 4, 2, bdl_model_hessian(m, p, x, wrong, square));
  REFUSED(BDL_ERROR_SHAPE, "hessian has 2 rows, expected 17", bdl_model_hessian(m, p, x, y, into(2, d)));
  REFUSED(BDL_ERROR_SHAPE, "hessian is empty", bdl_model_hessian(m, p, x, y, bdl_none_out()));
  for (int i = 0; i < 17 * 17; ++i) assert_true(big[i] == 0);

  // Hessians of layers without second derivatives are refused, not computed without them.
  bdl_model* images = NULL;
  OK(bdl_model_create_network(BDL_F64, "input 1 4 4; conv 2 3; tanh; dense 1", BDL_GAUSSIAN, &images));
  const int64_t e = bdl_model_parameters(images);
  static double products[17 * 17];
  REFUSED(BDL_ERROR_UNSUPPORTED, "layer \"conv 2 3\" (line 2) has no exact second derivatives",
          bdl_model_hessian_vector_product(images, given(1, e), given(2, 16), given(2, 1), given(1, e),
                                           bdl_f64_out(products, 1, e)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "layer \"conv 2 3\" (line 2) has no exact second derivatives",
          bdl_model_hessian(images, given(1, e), given(2, 16), given(2, 1), bdl_f64_out(products, 1, e)));
  bdl_model_free(images);

  watch(&classes);
  REFUSED(
      BDL_ERROR_LABEL, "y is 0.5 at row 0",
      bdl_model_hessian_vector_product(classes.model, given(1, k), x, given(4, 1), given(1, k), into(1, k)));
  REFUSED(BDL_ERROR_LABEL, "y is 0.5 at row 0",
          bdl_model_hessian(classes.model, given(1, k), x, given(4, 1), into(k, k)));
  trained_free(&t);
  trained_free(&classes);
}

/* Parameters that overflow the network's arithmetic. */
static void test_overflow(void** state) {
  trained t = trained_create(BDL_F32, BDL_GAUSSIAN, 2);
  double theta[MOST_PARAMETERS], x[2] = {1, 1};
  const bdl_matrix p = bdl_f64(theta, 1, t.parameters), one = bdl_f64(x, 1, 2);
  (void)state;
  for (int i = 0; i < MOST_PARAMETERS; ++i) theta[i] = 3e38;
  watch(&t);
  REFUSED(BDL_ERROR_DIVERGED, "output 0 for example 0",
          bdl_model_jacobian(t.model, p, one, into(2, t.parameters)));
  REFUSED(
      BDL_ERROR_DIVERGED, "output 0 for example 0",
      bdl_model_hessian_vector_product(t.model, p, one, one, given(1, t.parameters), into(1, t.parameters)));
  /* Finite outputs, but a product that is not. */
  for (int i = 0; i < MOST_PARAMETERS; ++i) theta[i] = 1e-3;
  {
    double v[MOST_PARAMETERS];
    for (int i = 0; i < MOST_PARAMETERS; ++i) v[i] = 3e38;
    REFUSED(BDL_ERROR_DIVERGED, "products would not be finite at row 0",
            bdl_model_hessian_vector_product(t.model, p, one, one, bdl_f64(v, 1, t.parameters),
                                             into(1, t.parameters)));
  }
  trained_free(&t);
}

static int32_t zero_outputs(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  (void)theta;
  for (int64_t i = 0; i < x.rows; ++i) ((double*)f.data)[i * f.row_stride] = 0;
  return *(const int32_t*)user_data;
}

static int32_t bad_gradients(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix seeds,
                             bdl_matrix_out rows) {
  (void)user_data, (void)theta, (void)x, (void)seeds, (void)rows;
  return 0; /* without writing anything */
}

static void test_user_models(void** state) {
  int32_t answer = 0;
  bdl_model *blind, *bad;
  (void)state;
  watch(NULL);
  OK(create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, zero_outputs, NULL, &answer, NULL, &blind));
  OK(create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, zero_outputs, bad_gradients, &answer, NULL, &bad));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a gradients callback",
          bdl_model_jacobian(blind, given(1, 2), given(3, 1), into(3, 2)));
  REFUSED(BDL_ERROR_DIVERGED, "gradients callback",
          bdl_model_jacobian(bad, given(1, 2), given(3, 1), into(3, 2)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "no second derivatives",
          bdl_model_hessian(bad, given(1, 2), given(3, 1), given(3, 1), into(2, 2)));
  REFUSED(
      BDL_ERROR_UNSUPPORTED, "no second derivatives",
      bdl_model_hessian_vector_product(bad, given(1, 2), given(3, 1), given(3, 1), given(1, 2), into(1, 2)));
  answer = 3;
  REFUSED(BDL_ERROR_CALLBACK, "outputs callback returned 3",
          bdl_model_jacobian(bad, given(1, 2), given(3, 1), into(3, 2)));
  bdl_model_free(blind);
  bdl_model_free(bad);
}

/* A file whose covariance has been damaged: a tensor of 2 x 2 doubles, found by its bytes. */
static void test_damaged_covariance(void** state) {
  const double r[] = {0.5, 0.2, 0.2, 0.3},
               bad_values[][4] = {{0.5, 9, 9, 0.3}, {-1, 0, 0, 1}, {(double)NAN, 0, 0, 1}};
  static unsigned char bytes[1 << 16];
  char path[] = "/tmp/bdl-covariance-XXXXXX";
  const int descriptor = mkstemp(path);
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  size_t size, at = 0;
  FILE* file;
  (void)state;
  assert_true(descriptor >= 0 && close(descriptor) == 0);
  OK(bdl_model_set_noise_covariance(t.model, bdl_f64(r, 2, 2)));
  OK(bdl_save(path, t.model, NULL, NULL));
  file = fopen(path, "rb");
  assert_non_null(file);
  size = fread(bytes, 1, sizeof bytes, file);
  (void)fclose(file);
  while (at + sizeof r <= size && memcmp(bytes + at, r, sizeof r) != 0) ++at;
  assert_true(at + sizeof r <= size);
  watch(&t);
  for (int k = 0; k < 3; ++k) {
    memcpy(bytes + at, bad_values[k], sizeof r);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    (void)fclose(file);
    REFUSED(BDL_ERROR_FORMAT, "", bdl_load(path, NULL, &out.model, NULL, NULL));
  }
  trained_free(&t);
  assert_int_equal(unlink(path), 0);
}

int test_errors_derivatives(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_null_model),        cmocka_unit_test(test_noise_covariance),
      cmocka_unit_test(test_jacobian),          cmocka_unit_test(test_hessians),
      cmocka_unit_test(test_overflow),          cmocka_unit_test(test_user_models),
      cmocka_unit_test(test_damaged_covariance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
