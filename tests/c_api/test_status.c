/* Status numbers and names, the library's own words about itself, and the last error. */
#include "c_api_test.h"

#define NAMED(status, number) \
  { status, number, #status }

static void test_names(void** state) {
  const struct {
    bdl_status status;
    int number;
    const char* name;
  } statuses[] = {NAMED(BDL_OK, 0),
                  NAMED(BDL_ERROR_INVALID_ARGUMENT, 1),
                  NAMED(BDL_ERROR_SHAPE, 2),
                  NAMED(BDL_ERROR_NOT_FINITE, 3),
                  NAMED(BDL_ERROR_LABEL, 4),
                  NAMED(BDL_ERROR_UNKNOWN_OPTION, 5),
                  NAMED(BDL_ERROR_UNSUPPORTED, 6),
                  NAMED(BDL_ERROR_OUT_OF_MEMORY, 7),
                  NAMED(BDL_ERROR_FILE, 8),
                  NAMED(BDL_ERROR_FORMAT, 9),
                  NAMED(BDL_ERROR_DIVERGED, 10),
                  NAMED(BDL_ERROR_CALLBACK, 11),
                  NAMED(BDL_STOPPED, 12),
                  NAMED(BDL_ERROR_INTERNAL, 13),
                  NAMED(BDL_ERROR_PEER, 14),
                  NAMED(BDL_ERROR_COMMUNICATION, 15)};
  const int unknown[] = {-1, 16, 255, -2147483647 - 1, 2147483647};
  (void)state;
  for (int i = 0; i < 16; ++i) {
    assert_int_equal(statuses[i].status, statuses[i].number);
    assert_string_equal(bdl_status_name(statuses[i].status), statuses[i].name);
  }
  for (int i = 0; i < 5; ++i) assert_string_equal(bdl_status_name((bdl_status)unknown[i]), "unknown status");
}

/* Numbers that compiled programs hold: they may never change. */
static void test_pinned_numbers(void** state) {
  (void)state;
  assert_int_equal(BDL_F32, 1);
  assert_int_equal(BDL_F64, 2);
  assert_int_equal(BDL_I32, 3);
  assert_int_equal(BDL_IDENTITY, 1);
  assert_int_equal(BDL_SWISH, 9);
  assert_int_equal(BDL_GAUSSIAN, 1);
  assert_int_equal(BDL_POISSON, 4);
  assert_int_equal(BDL_HETEROSCEDASTIC, 5);
  assert_int_equal(BDL_STUDENT_T, 6);
  assert_int_equal(BDL_INIT_UNIFORM_FAN_IN, 1);
  assert_int_equal(BDL_INIT_HE, 3);
  assert_int_equal(BDL_MONTE_CARLO, 1);
  assert_int_equal(BDL_QUADRATURE, 3);
  assert_int_equal(BDL_OPTION_DOUBLE, 1);
  assert_int_equal(BDL_OPTION_CHOICE, 3);
  assert_int_equal(sizeof(bdl_matrix), sizeof(void*) + 2 * sizeof(int32_t) + 4 * sizeof(int64_t));
  assert_int_equal(offsetof(bdl_matrix, rows), sizeof(void*) + 2 * sizeof(int32_t));
  assert_int_equal(sizeof(bdl_matrix_out), sizeof(bdl_matrix));
  assert_int_equal(offsetof(bdl_matrix_out, rows), offsetof(bdl_matrix, rows));
  assert_int_equal(offsetof(bdl_matrix_out, col_stride), offsetof(bdl_matrix, col_stride));
  assert_int_equal(offsetof(bdl_model_callbacks, struct_size), 0);
}

/* The size of an enum does not change when values are appended. */
static void test_sizes_of_enums(void** state) {
  (void)state;
  assert_int_equal(sizeof(bdl_status), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_dtype), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_activation), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_likelihood), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_initialization), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_family), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_option_type), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_predict_method), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_draw_kind), sizeof(int32_t));
  assert_int_equal(sizeof(bdl_scale), sizeof(int32_t));
  assert_int_equal(BDL_STATUS_FORCE_INT32, INT32_MAX);
}

static void test_version(void** state) {
  (void)state;
  assert_string_equal(bdl_version(), BDL_VERSION_STRING);
  assert_ptr_equal(bdl_version(), bdl_version());
  assert_non_null(strstr(bdl_build_info(), BDL_VERSION_STRING));
  assert_non_null(strstr(bdl_build_info(), "BLAS"));
  assert_null(strchr(bdl_build_info(), '\n'));
  assert_ptr_equal(bdl_build_info(), bdl_build_info());
}

/* A library of the headers' SONAME, and not older than they are. */
static void test_check_version(void** state) {
  char text[64];
  (void)state;
  OK(BDL_CHECK_VERSION());
  OK(bdl_check_version(0, 2, 0)); /* the first of this SONAME */
  assert_int_equal(bdl_check_version(BDL_VERSION_MAJOR, BDL_VERSION_MINOR, BDL_VERSION_PATCH + 1),
                   BDL_ERROR_UNSUPPORTED);
  (void)snprintf(text, sizeof text, "bdl_check_version: the library is version %s, ", BDL_VERSION_STRING);
  assert_int_equal(strncmp(bdl_last_error(), text, strlen(text)), 0);
  (void)snprintf(text, sizeof text, "compiled with the headers of %d.%d.%d", BDL_VERSION_MAJOR,
                 BDL_VERSION_MINOR, BDL_VERSION_PATCH + 1);
  assert_non_null(strstr(bdl_last_error(), text));
  assert_int_equal(bdl_check_version(BDL_VERSION_MAJOR, BDL_VERSION_MINOR + 1, 0), BDL_ERROR_UNSUPPORTED);
  assert_int_equal(bdl_check_version(BDL_VERSION_MAJOR + 1, 0, 0), BDL_ERROR_UNSUPPORTED);
  assert_int_equal(bdl_check_version(INT32_MAX, INT32_MAX, INT32_MAX), BDL_ERROR_UNSUPPORTED);
  assert_int_equal(bdl_check_version(0, 1, 99), BDL_ERROR_UNSUPPORTED); /* of another SONAME */
  assert_non_null(strstr(bdl_last_error(), "expects those of 0.2.0 or later"));
  assert_int_equal(bdl_check_version(0, -1, 0), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(bdl_check_version(INT32_MIN, 0, 0), BDL_ERROR_INVALID_ARGUMENT);
}

static void test_last_error(void** state) {
  bdl_model* model = NULL;
  const int64_t sizes[] = {1, 1};
  char message[512];
  (void)state;
  assert_string_equal(bdl_last_error(), "");
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  assert_string_equal(bdl_last_error(), "");
  assert_int_equal(bdl_model_block(model, 9, NULL, NULL, NULL, NULL), BDL_ERROR_INVALID_ARGUMENT);
  (void)snprintf(message, sizeof message, "%s", bdl_last_error());
  assert_string_equal(message, "bdl_model_block: index is 9, expected 0 to 1");
  OK(bdl_model_block(model, 0, NULL, NULL, NULL, NULL));
  assert_string_equal(bdl_last_error(), message); /* a success leaves it alone */
  assert_int_equal(bdl_model_block(NULL, 0, NULL, NULL, NULL, NULL), BDL_ERROR_INVALID_ARGUMENT);
  assert_string_equal(bdl_last_error(), "bdl_model_block: model is NULL");
  bdl_model_free(model);
}

int test_status(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_last_error), /* first: nothing has failed yet */
      cmocka_unit_test(test_names),          cmocka_unit_test(test_pinned_numbers),
      cmocka_unit_test(test_sizes_of_enums), cmocka_unit_test(test_version),
      cmocka_unit_test(test_check_version)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
