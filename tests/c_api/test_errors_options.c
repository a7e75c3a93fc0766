/* Calls that the option functions refuse. Options survive refused calls. */
#include "refused.h"

static bdl_optimizer* o;

static void unchanged_options(void) {
  double rate = 0;
  int64_t samples = 0;
  const char* schedule = NULL;
  OK(bdl_optimizer_get_double(o, "learning_rate", &rate));
  OK(bdl_optimizer_get_int(o, "samples", &samples));
  OK(bdl_optimizer_get_choice(o, "schedule", &schedule));
  assert_true(rate == 0.25);
  assert_int_equal(samples, 3);
  assert_string_equal(schedule, "power");
}

static int setup(void** state) {
  static trained t;
  t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  o = t.optimizer;
  *state = &t;
  OK(bdl_optimizer_set_double(o, "learning_rate", 0.25));
  OK(bdl_optimizer_set_int(o, "samples", 3));
  OK(bdl_optimizer_set_choice(o, "schedule", "power"));
  watch(&t);
  return 0;
}

static int teardown(void** state) {
  unchanged_options();
  trained_free((trained*)*state);
  return 0;
}

static void test_null(void** state) {
  (void)state;
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_set_double(NULL, "learning_rate", 1));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_set_int(NULL, "samples", 1));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_set_choice(NULL, "schedule", "cosine"));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_set_text(NULL, "samples=1"));
  REFUSED(INVALID, "text is NULL", bdl_optimizer_set_text(o, NULL));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_get_double(NULL, "learning_rate", &out.number));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_get_int(NULL, "samples", &out.count));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_get_choice(NULL, "schedule", &out.text));
  REFUSED(INVALID, "name is NULL", bdl_optimizer_set_double(o, NULL, 1));
  REFUSED(INVALID, "name is NULL", bdl_optimizer_set_int(o, NULL, 1));
  REFUSED(INVALID, "name is NULL", bdl_optimizer_set_choice(o, NULL, "cosine"));
  REFUSED(INVALID, "name is NULL", bdl_optimizer_get_double(o, NULL, &out.number));
  REFUSED(INVALID, "name is NULL", bdl_optimizer_get_int(o, NULL, &out.count));
  REFUSED(INVALID, "name is NULL", bdl_optimizer_get_choice(o, NULL, &out.text));
  REFUSED(INVALID, "value is NULL", bdl_optimizer_set_choice(o, "schedule", NULL));
  REFUSED(INVALID, "value is NULL", bdl_optimizer_get_double(o, "learning_rate", NULL));
  REFUSED(INVALID, "value is NULL", bdl_optimizer_get_int(o, "samples", NULL));
  REFUSED(INVALID, "value is NULL", bdl_optimizer_get_choice(o, "schedule", NULL));
}

static void test_unknown_names(void** state) {
  static char endless[100000];
  (void)state;
  memset(endless, 'x', sizeof endless - 1);
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "\"learning_rates\", did you mean \"learning_rate\"",
          bdl_optimizer_set_double(o, "learning_rates", 1));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean \"minibatch\"", bdl_optimizer_set_int(o, "mini_batch", 1));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean \"schedule\"",
          bdl_optimizer_set_choice(o, "schedul", "cosine"));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean \"momentum\"",
          bdl_optimizer_get_double(o, "Momentum", &out.number));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean \"seed\"", bdl_optimizer_get_int(o, "sed", &out.count));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean", bdl_optimizer_get_choice(o, "", &out.text));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean", bdl_optimizer_set_int(o, endless, 1));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean", bdl_optimizer_set_int(o, "%s%n%s", 1));
}

static void test_wrong_types(void** state) {
  (void)state;
  REFUSED(INVALID, "\"learning_rate\" is a real number, not an integer",
          bdl_optimizer_set_int(o, "learning_rate", 1));
  REFUSED(INVALID, "\"samples\" is an integer, not a real number", bdl_optimizer_set_double(o, "samples", 1));
  REFUSED(INVALID, "\"schedule\" is a choice, not an integer", bdl_optimizer_set_int(o, "schedule", 1));
  REFUSED(INVALID, "\"seed\" is an integer, not a choice", bdl_optimizer_set_choice(o, "seed", "1"));
  REFUSED(INVALID, "\"learning_rate\"", bdl_optimizer_get_int(o, "learning_rate", &out.count));
  REFUSED(INVALID, "\"samples\"", bdl_optimizer_get_double(o, "samples", &out.number));
  REFUSED(INVALID, "\"samples\"", bdl_optimizer_get_choice(o, "samples", &out.text));
}

static void test_values(void** state) {
  (void)state;
  REFUSED(INVALID, "\"learning_rate\" is -1, expected [0, 1e6]",
          bdl_optimizer_set_double(o, "learning_rate", -1));
  REFUSED(INVALID, "\"learning_rate\" is ", bdl_optimizer_set_double(o, "learning_rate", (double)NAN));
  REFUSED(INVALID, "\"learning_rate\" is inf",
          bdl_optimizer_set_double(o, "learning_rate", (double)INFINITY));
  REFUSED(INVALID, "\"curvature_rate\" is 1, expected [0, 0.999999]",
          bdl_optimizer_set_double(o, "curvature_rate", 1));
  REFUSED(INVALID, "\"momentum\" is 1, expected [0, 0.999999]", bdl_optimizer_set_double(o, "momentum", 1));
  REFUSED(INVALID, "\"prior_precision\" is 0, expected [1e-30, 1e30]",
          bdl_optimizer_set_double(o, "prior_precision", 0));
  REFUSED(INVALID, "\"scale_rate\" is 0, expected [1e-12, 1]", bdl_optimizer_set_double(o, "scale_rate", 0));
  REFUSED(INVALID, "\"samples\" is 0, expected 1 to 100000", bdl_optimizer_set_int(o, "samples", 0));
  REFUSED(INVALID, "\"minibatch\" is -1", bdl_optimizer_set_int(o, "minibatch", -1));
  REFUSED(INVALID, "\"learn_noise\" is 2, expected 0 | 1", bdl_optimizer_set_int(o, "learn_noise", 2));
  REFUSED(INVALID, "\"samples\" is 9223372036854775807", bdl_optimizer_set_int(o, "samples", INT64_MAX));
  REFUSED(INVALID, "\"schedule\" is \"linear\", expected cosine | power",
          bdl_optimizer_set_choice(o, "schedule", "linear"));
  REFUSED(INVALID, "\"schedule\" is \"\"", bdl_optimizer_set_choice(o, "schedule", ""));
  REFUSED(INVALID, "\"schedule\" is \"COSINE\"", bdl_optimizer_set_choice(o, "schedule", "COSINE"));
  REFUSED(INVALID, "\"samples\" is \"x\", expected an integer",
          bdl_optimizer_set_text(o, "momentum=0 samples=x"));
  REFUSED(INVALID, "\"momentum\" is 1, expected [0, 0.999999]",
          bdl_optimizer_set_text(o, "samples=9 momentum=1"));
}

/* Just outside the limits of every option; the table itself says which numbers they are. */
static void test_all_ranges(void** state) {
  const char *name, *range;
  bdl_option_type type;
  (void)state;
  for (int64_t i = 0; i < bdl_option_count(); ++i) {
    OK(bdl_option_describe(i, &name, &type, NULL, &range, NULL));
    if (type == BDL_OPTION_CHOICE) {
      REFUSED(INVALID, range, bdl_optimizer_set_choice(o, name, "no such word"));
    } else if (type == BDL_OPTION_DOUBLE) {
      REFUSED(INVALID, range, bdl_optimizer_set_double(o, name, -1e-3));
      REFUSED(INVALID, range, bdl_optimizer_set_double(o, name, (double)NAN));
    } else if (strcmp(name, "seed") != 0) {
      REFUSED(INVALID, range, bdl_optimizer_set_int(o, name, -1));
    }
  }
}

static void test_describe(void** state) {
  (void)state;
  REFUSED(INVALID, "index is ",
          bdl_option_describe(bdl_option_count(), &out.text, &out.type, &out.more, &out.range, &out.doc));
  REFUSED(INVALID, "index is -1",
          bdl_option_describe(-1, &out.text, &out.type, &out.more, &out.range, &out.doc));
  REFUSED(INVALID, "index is 9223372036854775807",
          bdl_option_describe(INT64_MAX, &out.text, &out.type, &out.more, &out.range, &out.doc));
}

int test_errors_options(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_null, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_unknown_names, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_wrong_types, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_values, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_all_ranges, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_describe, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
