/* Calls that the functions of model.h refuse. */
#include "refused.h"

static int32_t no_outputs(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  (void)user_data, (void)parameters, (void)inputs, (void)outputs;
  return 0;
}

static void no_destroy(void* user_data) {
  ++*(int*)user_data;
}

static bdl_status mlp(int dtype, const int64_t* sizes, int32_t count, int activation, int32_t bias,
                      int likelihood) {
  return bdl_model_create_mlp((bdl_dtype)dtype, sizes, count, (bdl_activation)activation, bias,
                              (bdl_likelihood)likelihood, &out.model);
}
#define MLP(status, fragment, ...) \
  refused_at(status, fragment, mlp(__VA_ARGS__), "bdl_model_create_mlp(" #__VA_ARGS__ ")", __FILE__, __LINE__)

static void test_create_mlp(void** state) {
  const int64_t good[] = {2, 3, 1}, zero[] = {2, 0, 1}, negative[] = {-1, 1},
                huge[] = {1, INT64_C(1) << 40, 1}, product[] = {1 << 20, 1 << 20, 1},
                overflow[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
  (void)state;
  watch(NULL);
  MLP(INVALID, "dtype is 0", 0, good, 3, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "dtype is 3", BDL_I32, good, 3, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "dtype is 99", 99, good, 3, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "sizes is NULL", BDL_F64, NULL, 3, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "size_count is 1, expected at least 2", BDL_F64, good, 1, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "size_count is 0", BDL_F64, good, 0, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "size_count is -5", BDL_F64, good, -5, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "size is 0", BDL_F64, zero, 3, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "size is -1", BDL_F64, negative, 2, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "size is 1099511627776", BDL_F64, huge, 3, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "parameters", BDL_F64, product, 3, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "parameters", BDL_F64, overflow, 5, BDL_RELU, 1, BDL_GAUSSIAN);
  MLP(INVALID, "activation is 0", BDL_F64, good, 3, 0, 1, BDL_GAUSSIAN);
  MLP(INVALID, "activation is 10", BDL_F64, good, 3, 10, 1, BDL_GAUSSIAN);
  MLP(INVALID, "bias is 2, expected 0 or 1", BDL_F64, good, 3, BDL_RELU, 2, BDL_GAUSSIAN);
  MLP(INVALID, "bias is -1", BDL_F64, good, 3, BDL_RELU, -1, BDL_GAUSSIAN);
  MLP(INVALID, "likelihood is 0", BDL_F64, good, 3, BDL_RELU, 1, 0);
  MLP(INVALID, "likelihood is 12", BDL_F64, good, 3, BDL_RELU, 1, 12);
  MLP(INVALID, "1 outputs, expected two per target", BDL_F64, good, 3, BDL_RELU, 1, BDL_HETEROSCEDASTIC);
  MLP(INVALID, "1 outputs, expected at least 2", BDL_F64, good, 3, BDL_RELU, 1, BDL_CATEGORICAL);
  REFUSED(INVALID, "model is NULL", bdl_model_create_mlp(BDL_F64, good, 3, BDL_RELU, 1, BDL_GAUSSIAN, NULL));
}

static bdl_status user(int dtype, int64_t inputs, int64_t outputs, int64_t parameters, int likelihood,
                       int* destroyed) {
  return create_user((bdl_dtype)dtype, inputs, outputs, parameters, (bdl_likelihood)likelihood, no_outputs,
                     NULL, destroyed, no_destroy, &out.model);
}
#define USER(fragment, ...)                                                                               \
  refused_at(INVALID, fragment, user(__VA_ARGS__, &destroyed), "bdl_model_create_user(" #__VA_ARGS__ ")", \
             __FILE__, __LINE__)

static void test_create_user(void** state) {
  int destroyed = 0;
  bdl_model_callbacks callbacks = {sizeof callbacks, no_outputs, NULL, &destroyed, no_destroy};
  (void)state;
  watch(NULL);
  USER("dtype is 0", 0, 1, 1, 2, BDL_GAUSSIAN);
  USER("dtype is 3", BDL_I32, 1, 1, 2, BDL_GAUSSIAN);
  USER("inputs is 0", BDL_F64, 0, 1, 2, BDL_GAUSSIAN);
  USER("outputs is -1", BDL_F64, 1, -1, 2, BDL_GAUSSIAN);
  USER("parameters is 0", BDL_F64, 1, 1, 0, BDL_GAUSSIAN);
  USER("parameters is 9223372036854775807", BDL_F64, 1, 1, INT64_MAX, BDL_GAUSSIAN);
  USER("likelihood is 77", BDL_F64, 1, 1, 2, 77);
  USER("1 outputs, expected at least 2", BDL_F64, 1, 1, 2, BDL_CATEGORICAL);
  REFUSED(INVALID, "callbacks is NULL",
          bdl_model_create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, NULL, &out.model));
  REFUSED(INVALID, "model is NULL", bdl_model_create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, &callbacks, NULL));
  callbacks.outputs = NULL;
  REFUSED(INVALID, "callbacks->outputs is NULL",
          bdl_model_create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, &callbacks, &out.model));
  assert_int_equal(destroyed, 0); /* creation failed: the caller still owns its data */
}

/* A struct_size that is too small for `outputs`, ends within a member, or is of a later version. */
static void test_struct_sizes(void** state) {
  int destroyed = 0;
  bdl_model_callbacks callbacks = {sizeof callbacks, no_outputs, NULL, &destroyed, no_destroy};
  const size_t sizes[] = {0,
                          1,
                          sizeof(size_t),
                          offsetof(bdl_model_callbacks, gradients) - 1,
                          offsetof(bdl_model_callbacks, gradients) + 1,
                          sizeof callbacks - 1,
                          sizeof callbacks + 1,
                          sizeof callbacks + sizeof(void*),
                          (size_t)-1,
                          (size_t)-8};
  (void)state;
  watch(NULL);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    char fragment[60];
    callbacks.struct_size = sizes[i];
    (void)snprintf(fragment, sizeof fragment, "callbacks has struct_size %zu, expected", sizes[i]);
    REFUSED(INVALID, fragment, bdl_model_create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, &callbacks, &out.model));
  }
  assert_int_equal(destroyed, 0);
}

static void test_copy(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  (void)state;
  watch(&t);
  REFUSED(INVALID, "model is NULL", bdl_model_copy(NULL, &out.model));
  REFUSED(INVALID, "copy is NULL", bdl_model_copy(t.model, NULL));
  trained_free(&t);
}

static void test_null_model(void** state) {
  (void)state;
  watch(NULL);
  bdl_model_free(NULL);
  assert_int_equal(bdl_model_parameters(NULL), 0);
  assert_int_equal(bdl_model_inputs(NULL), 0);
  assert_int_equal(bdl_model_outputs(NULL), 0);
  assert_int_equal(bdl_model_targets(NULL), 0);
  REFUSED(INVALID, "model is NULL", bdl_model_block(NULL, 0, &out.text, &out.offset, &out.rows, &out.cols));
  REFUSED(INVALID, "model is NULL", bdl_model_set_noise_precision(NULL, given(1, 1)));
  REFUSED(INVALID, "model is NULL", bdl_model_get_noise_precision(NULL, into(1, 1)));
  REFUSED(INVALID, "model is NULL", bdl_model_initialize(NULL, BDL_INIT_HE, 1, into(1, 17)));
  REFUSED(INVALID, "model is NULL", bdl_model_evaluate(NULL, given(1, 17), given(4, 2), into(4, 2)));
  REFUSED(INVALID, "model is NULL", bdl_model_coefficients(NULL, -1, given(1, 17), into(1, 17)));
  REFUSED(INVALID, "model is NULL",
          bdl_model_log_likelihood(NULL, given(1, 17), given(4, 2), given(4, 2), into(4, 1)));
  REFUSED(INVALID, "model is NULL",
          bdl_model_gradient_rows(NULL, given(1, 17), given(4, 2), given(4, 2), into(4, 17)));
}

static void test_block(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  (void)state;
  watch(&t);
  REFUSED(INVALID, "index is -1", bdl_model_block(t.model, -1, &out.text, &out.offset, &out.rows, &out.cols));
  REFUSED(INVALID, "index is 4, expected 0 to 3",
          bdl_model_block(t.model, 4, &out.text, &out.offset, &out.rows, &out.cols));
  OK(bdl_model_block(t.model, 3, NULL, NULL, NULL, NULL));
  trained_free(&t);
}

static void test_noise_precision(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2), counts = trained_create(BDL_F64, BDL_POISSON, 2);
  const double each[] = {4, 9};
  double read[2];
  (void)state;
  watch(&t);
  REFUSES_PRECISIONS("precision", 2, bdl_model_set_noise_precision(t.model, wrong));
  REFUSED(BDL_ERROR_SHAPE, "precision has 2 rows, expected 1",
          bdl_model_set_noise_precision(t.model, given(2, 1)));
  OK(bdl_model_set_noise_precision(t.model, bdl_f64(each, 1, 2)));
  watch(&t);
  REFUSES_OUTPUTS("precision", 1, 2, bdl_model_get_noise_precision(t.model, wrong));
  OK(bdl_model_set_noise_precision(t.model, bdl_f64(each, 1, 1)));
  OK(bdl_model_get_noise_precision(t.model, bdl_f64_out(read, 1, 2))); /* shared: for each output, too */
  assert_true(read[0] == 4 && read[1] == 4);
  watch(&counts);
  REFUSED(BDL_ERROR_UNSUPPORTED, "likelihood", bdl_model_set_noise_precision(counts.model, given(1, 1)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "likelihood", bdl_model_get_noise_precision(counts.model, into(1, 1)));
  trained_free(&t);
  trained_free(&counts);
}

static void test_initialize(void** state) {
  trained t = trained_create(BDL_F32, BDL_GAUSSIAN, 2);
  bdl_model* user_model;
  (void)state;
  watch(&t);
  REFUSED(INVALID, "scheme is 0", bdl_model_initialize(t.model, (bdl_initialization)0, 1, into(1, 17)));
  REFUSED(INVALID, "scheme is 6", bdl_model_initialize(t.model, (bdl_initialization)6, 1, into(1, 17)));
  REFUSES_OUTPUTS("parameters", 1, t.parameters, bdl_model_initialize(t.model, BDL_INIT_HE, 1, wrong));
  OK(create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, no_outputs, NULL, NULL, NULL, &user_model));
  REFUSED(BDL_ERROR_UNSUPPORTED, "custom model",
          bdl_model_initialize(user_model, BDL_INIT_HE, 1, into(1, 2)));
  bdl_model_free(user_model);
  trained_free(&t);
}

static void test_evaluation(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const bdl_model* m = t.model;
  double theta[MOST_PARAMETERS] = {0}; /* apart from given(), which fills one array again and again */
  double four[8] = {0};
  const bdl_matrix p = bdl_f64(theta, 1, t.parameters), x = bdl_f64(four, 4, 2), y = x;
  const int64_t d = t.parameters;
  (void)state;
  watch(&t);
  REFUSES_INPUTS("parameters", 1, d, bdl_model_evaluate(m, wrong, x, into(4, 2)));
  REFUSES_INPUTS("x", 4, 2, bdl_model_evaluate(m, p, wrong, into(4, 2)));
  REFUSES_OUTPUTS("outputs", 4, 2, bdl_model_evaluate(m, p, x, wrong));
  REFUSED(BDL_ERROR_SHAPE, "parameters has 2 rows", bdl_model_evaluate(m, given(2, d), x, into(4, 2)));

  REFUSES_INPUTS("parameters", 1, d, bdl_model_log_likelihood(m, wrong, x, y, into(4, 1)));
  REFUSES_INPUTS("x", 4, 2, bdl_model_log_likelihood(m, p, wrong, y, into(4, 1)));
  REFUSES_INPUTS("y", 4, 2, bdl_model_log_likelihood(m, p, x, wrong, into(4, 1)));
  REFUSES_OUTPUTS("log_likelihood", 4, 1, bdl_model_log_likelihood(m, p, x, y, wrong));
  REFUSED(BDL_ERROR_SHAPE, "y has 3 rows, expected 4",
          bdl_model_log_likelihood(m, p, x, given(3, 2), into(4, 1)));

  REFUSES_INPUTS("parameters", 1, d, bdl_model_gradient_rows(m, wrong, x, y, into(4, d)));
  REFUSES_INPUTS("x", 4, 2, bdl_model_gradient_rows(m, p, wrong, y, into(4, d)));
  REFUSES_INPUTS("y", 4, 2, bdl_model_gradient_rows(m, p, x, wrong, into(4, d)));
  REFUSES_OUTPUTS("rows", 4, d, bdl_model_gradient_rows(m, p, x, y, wrong));
  REFUSED(BDL_ERROR_SHAPE, "y has 3 rows, expected 4",
          bdl_model_gradient_rows(m, p, x, given(3, 2), into(4, d)));
  trained_free(&t);
}

static void test_classes_of_y(void** state) {
  trained t = trained_create(BDL_F64, BDL_CATEGORICAL, 2), other = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const double beyond[] = {0, 3}, negative[] = {0, -1}, half[] = {0.5, 1}, none[] = {NAN, 1},
               twice[] = {2, 0, 2};
  (void)state;
  watch(&other);
  REFUSED(BDL_ERROR_UNSUPPORTED, "the likelihood is not categorical",
          bdl_model_set_classes(other.model, bdl_f64(twice, 1, 2)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "not categorical", bdl_model_set_classes(other.model, bdl_none()));
  REFUSED(BDL_ERROR_UNSUPPORTED, "not categorical", bdl_model_get_classes(other.model, into(1, 2)));
  assert_int_equal(bdl_model_class_count(other.model), 0);
  assert_int_equal(bdl_model_class_count(NULL), 0);
  watch(&t);
  REFUSED(INVALID, "model is NULL", bdl_model_set_classes(NULL, bdl_f64(twice, 1, 2)));
  REFUSED(INVALID, "model is NULL", bdl_model_get_classes(NULL, into(1, 3)));
  REFUSED(BDL_ERROR_SHAPE, "classes has 2 rows, expected 1",
          bdl_model_set_classes(t.model, bdl_f64(half, 2, 1)));
  REFUSES_OUTPUTS("classes", 1, 3, bdl_model_get_classes(t.model, wrong));
  REFUSED(INVALID, "classes has 3 at column 1 (counting from 0), expected a class number, 0 to 2",
          bdl_model_set_classes(t.model, bdl_f64(beyond, 1, 2)));
  REFUSED(INVALID, "classes has -1 at column 1", bdl_model_set_classes(t.model, bdl_f64(negative, 1, 2)));
  REFUSED(INVALID, "classes has 0.5 at column 0", bdl_model_set_classes(t.model, bdl_f64(half, 1, 2)));
  REFUSED(BDL_ERROR_NOT_FINITE, "classes is not finite at row 0, column 0",
          bdl_model_set_classes(t.model, bdl_f64(none, 1, 2)));
  REFUSED(INVALID, "classes has the number 2 twice", bdl_model_set_classes(t.model, bdl_f64(twice, 1, 3)));
  REFUSED(INVALID, "classes has 1 numbers, expected 2 or more, or no array for all",
          bdl_model_set_classes(t.model, bdl_f64(twice, 1, 1)));
  assert_int_equal(bdl_model_class_count(t.model), 3);
  trained_free(&t);
  trained_free(&other);
}

/* Parameters that overflow the network's arithmetic are named by output and example. */
static void test_overflow(void** state) {
  trained t = trained_create(BDL_F32, BDL_GAUSSIAN, 2);
  double theta[MOST_PARAMETERS], x[2] = {1, 1};
  const bdl_matrix p = bdl_f64(theta, 1, t.parameters), one = bdl_f64(x, 1, 2);
  (void)state;
  for (int i = 0; i < MOST_PARAMETERS; ++i) theta[i] = 3e38;
  watch(&t);
  REFUSED(BDL_ERROR_DIVERGED, "output 0 for example 0", bdl_model_evaluate(t.model, p, one, into(1, 2)));
  REFUSED(BDL_ERROR_DIVERGED, "output 0 for example 0",
          bdl_model_log_likelihood(t.model, p, one, one, into(1, 1)));
  REFUSED(BDL_ERROR_DIVERGED, "output 0 for example 0",
          bdl_model_gradient_rows(t.model, p, one, one, into(1, t.parameters)));
  trained_free(&t);
}

static void test_published_networks(void** state) {
  const char** text = &out.text;
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "index is 4, expected 0 to 3",
          bdl_network_describe(4, text, &out.count, &out.rows, &out.cols, &out.offset, &out.doc, &out.more));
  REFUSED(INVALID, "index is -1", bdl_network_describe(-1, text, NULL, NULL, NULL, NULL, NULL, NULL));
  REFUSED(INVALID, "name is NULL", bdl_network_description(NULL, 1, 28, 28, 10, text));
  REFUSED(INVALID, "text is NULL", bdl_network_description("lenet5", 1, 28, 28, 10, NULL));
  REFUSED(INVALID,
          "no network \"lenet\", did you mean \"lenet5\"? There are \"lenet5\", \"alexnet\", \"resnet18\", ",
          bdl_network_description("lenet", 1, 28, 28, 10, text));
  REFUSED(INVALID, "channels is 0", bdl_network_description("lenet5", 0, 28, 28, 10, text));
  REFUSED(INVALID, "rows is -28", bdl_network_description("lenet5", 1, -28, 28, 10, text));
  REFUSED(INVALID, "columns is 4294967296",
          bdl_network_description("lenet5", 1, 28, INT64_C(1) << 32, 10, text));
  REFUSED(INVALID, "outputs is 0", bdl_network_description("lenet5", 1, 28, 28, 0, text));
}

int test_errors_model(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create_mlp),      cmocka_unit_test(test_create_user),
      cmocka_unit_test(test_struct_sizes),    cmocka_unit_test(test_copy),
      cmocka_unit_test(test_null_model),      cmocka_unit_test(test_block),
      cmocka_unit_test(test_noise_precision), cmocka_unit_test(test_initialize),
      cmocka_unit_test(test_evaluation),      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_classes_of_y),    cmocka_unit_test(test_published_networks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
