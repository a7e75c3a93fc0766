/* Calls that the functions of standardisation refuse, and the effect of extreme numbers. */
#include "refused.h"

#define SET(model, a, b, c, d) bdl_model_set_standardization(model, a, b, c, d)

static const bdl_matrix* none(void) {
  static bdl_matrix nothing;
  nothing = bdl_none();
  return &nothing;
}
#define NONE (*none())

static const bdl_matrix_out* unwanted(void) {
  static bdl_matrix_out nothing;
  nothing = bdl_none_out();
  return &nothing;
}
#define UNWANTED (*unwanted())

static void test_set(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const double too_small[] = {1, 1e-101}, too_large[] = {1e101, 1};
  (void)state;
  watch(&t);
  REFUSED(INVALID, "model is NULL", bdl_model_set_standardization(NULL, NONE, NONE, NONE, NONE));
  for (int number = 1; number < BAD_SHAPES; ++number) { /* number 0, none, is fine */
    const char* names[] = {"input_mean", "input_scale", "target_mean", "target_scale"};
    for (int k = 0; k < 4; ++k) {
      const bad_matrix b = bad_shape(number, given(1, 2), names[k]);
      refused_at(b.status, b.fragment,
                 SET(t.model, k == 0 ? b.matrix : NONE, k == 1 ? b.matrix : NONE, k == 2 ? b.matrix : NONE,
                     k == 3 ? b.matrix : NONE),
                 "bdl_model_set_standardization(...)", __FILE__, __LINE__);
    }
  }
  REFUSED(BDL_ERROR_SHAPE, "input_mean has 2 rows, expected 1",
          bdl_model_set_standardization(t.model, given(2, 2), NONE, NONE, NONE));
  REFUSED(BDL_ERROR_NOT_FINITE, "target_mean is not finite at row 0, column 1",
          bdl_model_set_standardization(t.model, NONE, NONE, spoiled(1, 2, 0, 1, NAN), NONE));
  REFUSED(BDL_ERROR_NOT_FINITE, "input_scale is not finite at row 0, column 0",
          bdl_model_set_standardization(t.model, NONE, spoiled(1, 2, 0, 0, INFINITY), NONE, NONE));
  REFUSED(INVALID, "input_scale is 0 at column 1 (counting from 0), expected 1e-100 to 1e+100",
          bdl_model_set_standardization(t.model, NONE, spoiled(1, 2, 0, 1, 0), NONE, NONE));
  REFUSED(
      INVALID, "target_scale is -2 at column 0",
      bdl_model_set_standardization(t.model, given(1, 2), given(1, 2), given(1, 2), spoiled(1, 2, 0, 0, -2)));
  REFUSED(INVALID, "input_scale is 1e-101 at column 1",
          bdl_model_set_standardization(t.model, NONE, bdl_f64(too_small, 1, 2), NONE, NONE));
  REFUSED(INVALID, "target_scale is 1e+101 at column 0",
          bdl_model_set_standardization(t.model, NONE, NONE, NONE, bdl_f64(too_large, 1, 2)));
  trained_free(&t);
}

static void test_standardize(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const double far[] = {1e300, 0, -1e300, 0, 1e300, 0, 0, 0};
  (void)state;
  watch(&t);
  REFUSED(INVALID, "model is NULL", bdl_model_standardize(NULL, given(4, 2), given(4, 2)));
  REFUSES_INPUTS("x", 4, 2, bdl_model_standardize(t.model, wrong, NONE));
  for (int number = 1; number < BAD_SHAPES; ++number) {
    const bad_matrix b = bad_shape(number, given(4, 2), "y");
    refused_at(b.status, b.fragment, bdl_model_standardize(t.model, given(4, 2), b.matrix),
               "bdl_model_standardize(...)", __FILE__, __LINE__);
  }
  REFUSED(BDL_ERROR_SHAPE, "y has 3 rows, expected 4",
          bdl_model_standardize(t.model, given(4, 2), given(3, 2)));
  REFUSED(BDL_ERROR_NOT_FINITE, "y is inf at row 3, column 0",
          bdl_model_standardize(t.model, given(4, 2), spoiled(4, 2, 3, 0, INFINITY)));
  REFUSED(INVALID, "x has mean", bdl_model_standardize(t.model, bdl_f64(far, 4, 2), NONE));
  REFUSED(INVALID, "in column 0 (counting from 0)",
          bdl_model_standardize(t.model, given(4, 2), bdl_f64(far, 4, 2)));
  trained_free(&t);
}

static void test_get(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const double large[] = {1e80, 0};
  float small[2];
  (void)state;
  watch(&t);
  REFUSED(INVALID, "model is NULL",
          bdl_model_get_standardization(NULL, UNWANTED, UNWANTED, UNWANTED, UNWANTED));
  for (int number = 1; number < BAD_OUTPUTS; ++number) {
    const char* names[] = {"input_mean", "input_scale", "target_mean", "target_scale"};
    for (int k = 0; k < 4; ++k) {
      const bad_matrix b = bad_output(number, into(1, 2), names[k]);
      refused_at(
          b.status, b.fragment,
          bdl_model_get_standardization(t.model, k == 0 ? b.output : UNWANTED, k == 1 ? b.output : UNWANTED,
                                        k == 2 ? b.output : UNWANTED, k == 3 ? b.output : UNWANTED),
          "bdl_model_get_standardization(...)", __FILE__, __LINE__);
    }
  }
  watch(NULL);
  OK(bdl_model_set_standardization(t.model, bdl_f64(large, 1, 2), NONE, NONE, NONE));
  REFUSED(BDL_ERROR_DIVERGED, "input_mean would be 1e+80",
          bdl_model_get_standardization(t.model, bdl_f32_out(small, 1, 2), into(1, 2), UNWANTED, UNWANTED));
  trained_free(&t);
}

static int32_t no_outputs(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  (void)user_data, (void)parameters, (void)inputs, (void)outputs;
  return 0;
}

/* A custom model has none, and other likelihoods have no units of y. */
static void test_unsupported(void** state) {
  bdl_model* user;
  double mean[] = {7, 7}, scale[] = {7, 7};
  (void)state;
  OK(create_user(BDL_F64, 2, 2, 3, BDL_GAUSSIAN, no_outputs, NULL, NULL, NULL, &user));
  watch(NULL);
  REFUSED(BDL_ERROR_UNSUPPORTED, "custom model", bdl_model_set_standardization(user, NONE, NONE, NONE, NONE));
  REFUSED(BDL_ERROR_UNSUPPORTED, "custom model", bdl_model_standardize(user, given(4, 2), NONE));
  OK(bdl_model_get_standardization(user, bdl_f64_out(mean, 1, 2), UNWANTED, UNWANTED,
                                   bdl_f64_out(scale, 1, 2)));
  assert_true(mean[0] == 0 && mean[1] == 0 && scale[0] == 1 && scale[1] == 1);
  bdl_model_free(user);
  for (int likelihood = BDL_BERNOULLI; likelihood <= BDL_POISSON; ++likelihood) {
    trained t = trained_create(BDL_F64, (bdl_likelihood)likelihood, 2);
    watch(&t);
    REFUSED(BDL_ERROR_UNSUPPORTED, "target_mean is given, but the likelihood is of classes or counts",
            bdl_model_set_standardization(t.model, NONE, NONE, given(1, t.outputs), NONE));
    REFUSED(BDL_ERROR_UNSUPPORTED, "target_scale is given",
            bdl_model_set_standardization(t.model, NONE, NONE, NONE, given(1, t.outputs)));
    REFUSED(BDL_ERROR_SHAPE, "y has 3 rows", bdl_model_standardize(t.model, given(4, 2), given(3, 1)));
    watch(NULL);
    OK(bdl_model_standardize(t.model, x_of(&t.data), y_of(&t.data)));
    OK(bdl_model_get_standardization(t.model, UNWANTED, bdl_f64_out(scale, 1, 2), UNWANTED, UNWANTED));
    assert_true(scale[0] != 1);
    trained_free(&t);
  }
}

/* Numbers that are finite, but not when they are standardised, or not in the caller's units. */
static void test_overflow(void** state) {
  trained t = untrained_create(BDL_F32, BDL_GAUSSIAN, 2);
  const double narrow[] = {1e-60, 1}, wide[] = {1e60, 1e60}, precision = 1e250;
  (void)state;
  OK(bdl_model_set_standardization(t.model, NONE, bdl_f64(narrow, 1, 2), NONE, NONE));
  watch(&t);
  REFUSED(BDL_ERROR_NOT_FINITE, "before it is standardised",
          bdl_optimizer_fit(t.optimizer, given(ROWS, 2), given(ROWS, 2), 1, NULL, NULL));
  REFUSED(BDL_ERROR_NOT_FINITE, "x is not finite at row 0, column 0 (counting from 0): 0.5 before",
          bdl_optimizer_observe(t.optimizer, given(4, 2), given(4, 2), UNWANTED));
  REFUSED(BDL_ERROR_NOT_FINITE, "x is not finite at row 0, column 0",
          bdl_model_evaluate(t.model, given(1, t.parameters), given(4, 2), into(4, 2)));
  watch(NULL);
  OK(bdl_model_set_standardization(t.model, NONE, NONE, NONE, bdl_f64(wide, 1, 2)));
  watch(&t);
  REFUSED(INVALID,
          "the noise precision of output 0 (counting from 0) is 1e+250, and inf after standardisation",
          bdl_model_set_noise_precision(t.model, bdl_f64(&precision, 1, 1)));
  REFUSED(BDL_ERROR_DIVERGED, "jacobian would not be finite",
          bdl_model_jacobian(t.model, given(1, t.parameters), given(1, 2), into(2, t.parameters)));
  trained_free(&t);
}

int test_errors_standardization(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_set), cmocka_unit_test(test_standardize),
                                     cmocka_unit_test(test_get), cmocka_unit_test(test_unsupported),
                                     cmocka_unit_test(test_overflow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
