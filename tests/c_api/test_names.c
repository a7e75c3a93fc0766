/* Names of columns and classes stay with the model, in memory, in files and in copies. */
#include "c_api_test.h"

#define INVALID BDL_ERROR_INVALID_ARGUMENT
#define FAILS(status, fragment, call)                    \
  do {                                                   \
    assert_int_equal(call, status);                      \
    assert_non_null(strstr(bdl_last_error(), fragment)); \
  } while (0)

static bdl_model* classifier(bdl_likelihood likelihood, int64_t outputs) {
  const int64_t sizes[] = {2, outputs};
  bdl_model* model;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, likelihood, &model));
  return model;
}

static const char* name_of(const bdl_model* model, bdl_named what, int64_t index) {
  const char* name = NULL;
  OK(bdl_model_get_name(model, what, index, &name));
  return name;
}

static int32_t type_of(const bdl_model* model) {
  int32_t type = 0;
  OK(bdl_model_get_class_type(model, &type));
  return type;
}

/* The bytes of a checkpoint; the caller frees them. */
static void* saved(const bdl_model* model, int64_t* size) {
  void* bytes;
  OK(bdl_save_bytes(model, NULL, NULL, NULL, 0, size));
  bytes = malloc((size_t)*size);
  OK(bdl_save_bytes(model, NULL, NULL, bytes, *size, size));
  return bytes;
}

static bdl_model* loaded(const bdl_model* model) {
  int64_t size;
  void* bytes = saved(model, &size);
  bdl_model* copy;
  OK(bdl_load_bytes(bytes, size, NULL, &copy, NULL, NULL));
  free(bytes);
  return copy;
}

static void test_names_are_kept(void** state) {
  bdl_model* model = classifier(BDL_CATEGORICAL, 3);
  (void)state;
  assert_string_equal(name_of(model, BDL_INPUT, 1), "");
  assert_int_equal(type_of(model), BDL_CLASS_TEXT);
  OK(bdl_model_set_name(model, BDL_INPUT, 0, "petal length"));
  OK(bdl_model_set_name(model, BDL_INPUT, 1,
                        "back\\slash\nand \xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\xb1 \"quoted\""));
  OK(bdl_model_set_name(model, BDL_TARGET, 0, "size"));
  OK(bdl_model_set_name(model, BDL_CLASS, 0, "small"));
  OK(bdl_model_set_name(model, BDL_CLASS, 2, "large"));
  OK(bdl_model_set_class_type(model, BDL_CLASS_ORDERED));
  bdl_model *copy = NULL, *from_file = loaded(model);
  OK(bdl_model_copy(model, &copy));
  const bdl_model* all[] = {model, copy, from_file};
  for (int k = 0; k < 3; ++k) {
    assert_string_equal(name_of(all[k], BDL_INPUT, 0), "petal length");
    assert_string_equal(name_of(all[k], BDL_INPUT, 1),
                        "back\\slash\nand \xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\xb1 \"quoted\"");
    assert_string_equal(name_of(all[k], BDL_TARGET, 0), "size");
    assert_string_equal(name_of(all[k], BDL_CLASS, 0), "small");
    assert_string_equal(name_of(all[k], BDL_CLASS, 1), "");
    assert_string_equal(name_of(all[k], BDL_CLASS, 2), "large");
    assert_int_equal(type_of(all[k]), BDL_CLASS_ORDERED);
  }
  bdl_model_free(copy);
  bdl_model_free(from_file);
  bdl_model_free(model);
}

/* A model whose names were taken away is one that has had none, to the byte. */
static void test_names_go(void** state) {
  bdl_model* model = classifier(BDL_BERNOULLI, 1);
  int64_t before, after;
  void *first = saved(model, &before), *last;
  (void)state;
  for (int64_t k = 0; k < 2; ++k) {
    OK(bdl_model_set_name(model, BDL_INPUT, k, "x"));
    OK(bdl_model_set_name(model, BDL_CLASS, k, "y"));
  }
  for (int64_t k = 0; k < 2; ++k) {
    OK(bdl_model_set_name(model, BDL_INPUT, k, ""));
    OK(bdl_model_set_name(model, BDL_CLASS, k, ""));
  }
  last = saved(model, &after);
  assert_int_equal(before, after);
  assert_memory_equal(first, last, (size_t)before);
  free(first);
  free(last);
  bdl_model_free(model);
}

static void test_what_is_refused(void** state) {
  static const char* const no_text[] = {"\x80",         "\xc3",         "\xc0\x80",         "\xe0\x80\x80",
                                        "\xed\xa0\x80", "\xf5\x80\x80", "\xf4\x90\x80\x80", "a\xff"};
  static char longest[65537 + 1];
  bdl_model *model = classifier(BDL_CATEGORICAL, 3), *numbers = classifier(BDL_GAUSSIAN, 1),
            *tags = classifier(BDL_BERNOULLI, 2);
  const char* name = "as before";
  (void)state;
  memset(longest, 'n', 65536);
  FAILS(INVALID, "model is NULL", bdl_model_set_name(NULL, BDL_INPUT, 0, "a"));
  FAILS(INVALID, "name is NULL", bdl_model_set_name(model, BDL_INPUT, 0, NULL));
  FAILS(INVALID, "name is NULL", bdl_model_get_name(model, BDL_INPUT, 0, NULL));
  FAILS(INVALID, "what is 4, expected 1 to 3", bdl_model_set_name(model, (bdl_named)4, 0, "a"));
  FAILS(INVALID, "index is 2, but the model has 2 inputs", bdl_model_set_name(model, BDL_INPUT, 2, "a"));
  FAILS(INVALID, "index is 3, but the model has 3 classes", bdl_model_get_name(model, BDL_CLASS, 3, &name));
  FAILS(INVALID, "index is -1, but the model has 1 targets",
        bdl_model_get_name(model, BDL_TARGET, -1, &name));
  FAILS(INVALID, "name has more than 65535 bytes", bdl_model_set_name(model, BDL_INPUT, 0, longest));
  for (size_t k = 0; k < sizeof no_text / sizeof *no_text; ++k)
    FAILS(INVALID, "name is not UTF-8", bdl_model_set_name(model, BDL_CLASS, 0, no_text[k]));
  FAILS(BDL_ERROR_UNSUPPORTED, "the model has no classes", bdl_model_set_name(numbers, BDL_CLASS, 0, "a"));
  FAILS(BDL_ERROR_UNSUPPORTED, "the model has no classes", bdl_model_get_name(tags, BDL_CLASS, 0, &name));
  FAILS(BDL_ERROR_UNSUPPORTED, "the model has no classes",
        bdl_model_set_class_type(numbers, BDL_CLASS_INTEGER));
  FAILS(INVALID, "type is 0, expected 1 to 5", bdl_model_set_class_type(model, (bdl_class_type)0));
  FAILS(INVALID, "model is NULL", bdl_model_get_class_type(NULL, NULL));
  FAILS(INVALID, "type is NULL", bdl_model_get_class_type(model, NULL));
  FAILS(BDL_ERROR_UNSUPPORTED, "the model has no classes", bdl_model_get_class_type(numbers, NULL));
  assert_string_equal(name, "as before");
  assert_string_equal(name_of(model, BDL_INPUT, 0), "");
  longest[65535] = 0;
  OK(bdl_model_set_name(model, BDL_INPUT, 0, longest));
  bdl_model_free(model);
  bdl_model_free(numbers);
  bdl_model_free(tags);
}

int test_names(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_are_kept),
      cmocka_unit_test(test_names_go),
      cmocka_unit_test(test_what_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
