/* Calls that the functions of search.h refuse. */
#include "refused.h"

static bdl_search* search_on(const trained* t) {
  bdl_search* search;
  OK(bdl_search_create(t->optimizer, 3, 1, BDL_MONTE_CARLO, 2, 1, &search));
  return search;
}

/* With one range and two trials. */
static bdl_search* used_search_on(const trained* t) {
  bdl_search* search = search_on(t);
  OK(bdl_search_add_double(search, "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
  OK(bdl_search_run(search, x_of(&t->data), y_of(&t->data), 2, 0, NULL, NULL));
  return search;
}

static void test_create(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const bdl_optimizer* o = t.optimizer;
  bdl_optimizer* without_model;
  (void)state;
  OK(bdl_optimizer_create(NULL, t.posterior, "slang", 10, &without_model));
  watch(&t);
#define CREATE(status, fragment, ...) \
  REFUSED(status, fragment, bdl_search_create(__VA_ARGS__, 1, &out.search))
  CREATE(INVALID, "prototype is NULL", NULL, 5, 10, BDL_MONTE_CARLO, 10);
  CREATE(BDL_ERROR_UNSUPPORTED, "prototype was created without a model", without_model, 5, 10,
         BDL_MONTE_CARLO, 10);
  CREATE(INVALID, "folds is 1, expected 2 to", o, 1, 10, BDL_MONTE_CARLO, 10);
  CREATE(INVALID, "folds is -9223372036854775807", o, -INT64_MAX, 10, BDL_MONTE_CARLO, 10);
  CREATE(INVALID, "epochs is 0, expected 1 to", o, 5, 0, BDL_MONTE_CARLO, 10);
  CREATE(INVALID, "epochs is 9223372036854775807", o, 5, INT64_MAX, BDL_MONTE_CARLO, 10);
  CREATE(INVALID, "method is 0", o, 5, 10, (bdl_predict_method)0, 10);
  CREATE(INVALID, "method is 99", o, 5, 10, (bdl_predict_method)99, 10);
  CREATE(INVALID, "samples is 0", o, 5, 10, BDL_MONTE_CARLO, 0);
  CREATE(INVALID, "samples is -1", o, 5, 10, BDL_LINEARIZED_MONTE_CARLO, -1);
  REFUSED(INVALID, "search is NULL", bdl_search_create(o, 5, 10, BDL_MONTE_CARLO, 10, 1, NULL));
  OK(bdl_search_create(o, 5, 10, BDL_PLUG_IN, 0, 1, &out.search));
  bdl_search_free(out.search);
  bdl_optimizer_free(without_model);
  trained_free(&t);
}

static void test_null_search(void** state) {
  (void)state;
  watch(NULL);
  bdl_search_free(NULL);
  bdl_search_request_stop(NULL);
  assert_int_equal(bdl_search_trial_count(NULL), 0);
  REFUSED(INVALID, "search is NULL", bdl_search_add_double(NULL, "momentum", 0, 0.9, BDL_SCALE_LINEAR));
  REFUSED(INVALID, "search is NULL", bdl_search_add_int(NULL, "samples", 1, 9, BDL_SCALE_LINEAR));
  REFUSED(INVALID, "search is NULL", bdl_search_add_choice(NULL, "curvature", "mc-ef | mc-ggn"));
  REFUSED(INVALID, "search is NULL", bdl_search_run(NULL, given(4, 2), given(4, 2), 1, 1, NULL, NULL));
  REFUSED(INVALID, "search is NULL",
          bdl_search_trial(NULL, 0, bdl_none_out(), &out.number, &out.other, &out.text));
  REFUSED(INVALID, "search is NULL", bdl_search_set_parallel_trials(NULL, 1));
  REFUSED(INVALID, "search is NULL", bdl_search_set_workers(NULL, 1));
  REFUSED(INVALID, "search is NULL", bdl_search_set_communicator(NULL, NULL));
  REFUSED(INVALID, "search is NULL", bdl_search_best(NULL, &out.count));
  REFUSED(INVALID, "search is NULL", bdl_search_apply(NULL, 0, NULL));
  REFUSED(INVALID, "search is NULL", bdl_search_folds(NULL, into(9, 1)));
}

static void test_ranges(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_search *s = search_on(&t), *used = used_search_on(&t);
  const bdl_scale linear = BDL_SCALE_LINEAR;
  (void)state;
  watch(&t);
  REFUSED(INVALID, "option is NULL", bdl_search_add_double(s, NULL, 0, 1, linear));
  REFUSED(INVALID, "option is NULL", bdl_search_add_int(s, NULL, 0, 1, linear));
  REFUSED(INVALID, "option is NULL", bdl_search_add_choice(s, NULL, "mc-ef | mc-ggn"));
  REFUSED(INVALID, "words is NULL", bdl_search_add_choice(s, "curvature", NULL));
  REFUSED(INVALID, "scale is 0, expected 1 to 2", bdl_search_add_double(s, "momentum", 0, 0.9, (bdl_scale)0));
  REFUSED(INVALID, "scale is 3, expected 1 to 2", bdl_search_add_int(s, "samples", 1, 9, (bdl_scale)3));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean \"momentum\"?",
          bdl_search_add_double(s, "momentun", 0, 0.9, linear));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean \"samples\"?",
          bdl_search_add_int(s, "sample", 0, 1, linear));
  REFUSED(BDL_ERROR_UNKNOWN_OPTION, "did you mean \"curvature\"?",
          bdl_search_add_choice(s, "curvatur", "mc-ef | mc-ggn"));
  REFUSED(INVALID, "\"samples\" is an integer", bdl_search_add_double(s, "samples", 1, 9, linear));
  REFUSED(INVALID, "\"momentum\" is 1, expected [0, 0.999999]",
          bdl_search_add_double(s, "momentum", 0, 1, linear));
  REFUSED(INVALID, "\"momentum\" is nan", bdl_search_add_double(s, "momentum", (double)NAN, 0.5, linear));
  REFUSED(INVALID, "low is 0.5", bdl_search_add_double(s, "momentum", 0.5, 0.5, linear));
  REFUSED(INVALID, "on a log scale", bdl_search_add_double(s, "momentum", 0, 0.5, BDL_SCALE_LOG));
  REFUSED(INVALID, "low is 9", bdl_search_add_int(s, "samples", 9, 3, linear));
  REFUSED(INVALID, "-2^53 to 2^53", bdl_search_add_int(s, "seed", 0, INT64_MAX, linear));
  REFUSED(INVALID, "\"gauss\", expected mc-ef", bdl_search_add_choice(s, "curvature", "mc-ef | gauss"));
  REFUSED(INVALID, "before the first trial", bdl_search_add_double(used, "momentum", 0, 0.9, linear));
  OK(bdl_search_add_double(s, "momentum", 0, 0.9, linear));
  REFUSED(INVALID, "has a range already", bdl_search_add_double(s, "momentum", 0, 0.5, linear));
  bdl_search_free(s);
  bdl_search_free(used);
  trained_free(&t);
}

static void test_run(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_search *s = search_on(&t), *used = used_search_on(&t);
  const bdl_matrix x = x_of(&t.data), y = y_of(&t.data), good = given(9, 2);
  (void)state;
  watch(&t);
  REFUSED(BDL_ERROR_UNSUPPORTED, "no option has a range", bdl_search_run(s, x, y, 2, 0, NULL, NULL));
  REFUSED(BDL_ERROR_UNSUPPORTED, "no option has a range", bdl_search_run(s, x, y, 0, 1, NULL, NULL));
  OK(bdl_search_add_double(s, "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
  REFUSES_INPUTS("x", 9, 2, bdl_search_run(s, wrong, good, 1, 0, NULL, NULL));
  REFUSES_INPUTS("y", 9, 2, bdl_search_run(s, good, wrong, 1, 0, NULL, NULL));
  REFUSED(BDL_ERROR_SHAPE, "y has 9 rows, expected 24", bdl_search_run(s, x, good, 1, 0, NULL, NULL));
  REFUSED(INVALID, "x has 2 rows, fewer than the search's 3 folds",
          bdl_search_run(s, given(2, 2), given(2, 2), 1, 0, NULL, NULL));
  REFUSED(INVALID, "random_trials is -1", bdl_search_run(s, x, y, -1, 0, NULL, NULL));
  REFUSED(INVALID, "bayesian_trials is 1000001", bdl_search_run(s, x, y, 0, 1000001, NULL, NULL));
  REFUSED(BDL_ERROR_SHAPE, "x has 9 rows, expected 24 as in the search's earlier trials",
          bdl_search_run(used, good, good, 1, 0, NULL, NULL));
  REFUSED(INVALID, "parallel_trials is 0, expected 1 to 1000", bdl_search_set_parallel_trials(s, 0));
  REFUSED(INVALID, "parallel_trials is 1001", bdl_search_set_parallel_trials(s, 1001));
  REFUSED(INVALID, "parallel_trials can only be set before the first trial",
          bdl_search_set_parallel_trials(used, 2));
  REFUSED(INVALID, "workers is -1, expected 0 to 256", bdl_search_set_workers(s, -1));
  REFUSED(INVALID, "workers is 257", bdl_search_set_workers(used, 257));
  OK(bdl_search_run(s, x, y, 0, 0, NULL, NULL));
  assert_int_equal(bdl_search_trial_count(s), 0);
  assert_int_equal(bdl_search_trial_count(used), 2);
  bdl_search_free(s);
  bdl_search_free(used);
  trained_free(&t);
}

static void test_results(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_search *s = search_on(&t), *used = used_search_on(&t);
  (void)state;
  watch(&t);
  REFUSED(BDL_ERROR_UNSUPPORTED, "there are no trials yet", bdl_search_best(s, &out.count));
  REFUSED(INVALID, "trial is NULL", bdl_search_best(used, NULL));
  REFUSED(INVALID, "trial is 0", bdl_search_trial(s, 0, bdl_none_out(), &out.number, &out.other, &out.text));
  REFUSED(INVALID, "trial is 2, expected 0 to 1",
          bdl_search_trial(used, 2, into(1, 1), &out.number, &out.other, &out.text));
  REFUSED(INVALID, "trial is -1", bdl_search_trial(used, -1, into(1, 1), &out.number, &out.other, &out.text));
  for (int number = 1; number < BAD_OUTPUTS; ++number) { /* none is allowed */
    const bad_matrix b = bad_output(number, into(1, 1), "values");
    if (number == BAD_SHAPES + 2) continue; /* one element cannot overlap */
    refused_at(b.status, b.fragment, bdl_search_trial(used, 0, b.output, &out.number, &out.other, &out.text),
               "bdl_search_trial(", __FILE__, __LINE__);
  }
  REFUSED(INVALID, "trial is 2, expected 0 to 1", bdl_search_apply(used, 2, t.optimizer));
  REFUSED(INVALID, "trial is -1", bdl_search_apply(used, -1, t.optimizer));
  REFUSED(INVALID, "optimizer is NULL", bdl_search_apply(used, 0, NULL));
  REFUSED(BDL_ERROR_SHAPE, "fold has 2 columns, expected 1", bdl_search_folds(s, into(9, 2)));
  REFUSED(INVALID, "the number of rows of fold is 2, expected 3 to", bdl_search_folds(s, into(2, 1)));
  REFUSED(BDL_ERROR_SHAPE, "fold is empty", bdl_search_folds(s, bdl_none_out()));
  OK(bdl_search_trial(used, 1, bdl_none_out(), NULL, NULL, NULL));
  bdl_search_free(s);
  bdl_search_free(used);
  trained_free(&t);
}

int test_errors_search(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_create), cmocka_unit_test(test_null_search),
                                     cmocka_unit_test(test_ranges), cmocka_unit_test(test_run),
                                     cmocka_unit_test(test_results)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
