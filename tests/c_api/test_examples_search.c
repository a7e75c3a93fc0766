/* Every function of search.h once, the way a newcomer would call it. test_examples.c has the rest. */
#include "c_api_test.h"

enum { N = 60 };

/* y = 3 x + noise of standard deviation 0.3, on [-1, 1]. */
static double x[N], y[N];

static int make_data(void** state) {
  static double noise[N];
  bdl_posterior* normal;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, 1, 0, &normal));
  OK(bdl_posterior_sample(normal, 1, 0, bdl_f64_out(noise, N, 1)));
  bdl_posterior_free(normal);
  for (int i = 0; i < N; ++i) {
    x[i] = 2.0 * i / (N - 1) - 1;
    y[i] = 3 * x[i] + 0.3 * noise[i];
  }
  return 0;
}

/* Counts the trials, and ends the search with the seventh. */
static int32_t stop_at_seven(void* user_data, const bdl_search* search) {
  ++*(int*)user_data;
  return bdl_search_trial_count(search) == 7;
}

static void example_search(void** state) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  bdl_search* search;
  double values[3], score, standard_error, rate, fold[N];
  const char* message;
  int64_t best;
  int calls = 0;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 1, &posterior));
  OK(bdl_optimizer_create(model, posterior, "slang-ggn", N, &optimizer));
  OK(bdl_search_create(optimizer, 4, 100, BDL_QUADRATURE, 0, 1, &search)); /* 4 folds, 100 epochs each */
  OK(bdl_search_add_double(search, "learning_rate", 1e-4, 0.5, BDL_SCALE_LOG));
  OK(bdl_search_add_int(search, "samples", 1, 8, BDL_SCALE_LINEAR));
  OK(bdl_search_add_choice(search, "curvature", "mc-ggn | mc-ef"));
  OK(bdl_search_run(search, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 4, 0, NULL, NULL));
  assert_int_equal(bdl_search_run(search, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 0, 6, stop_at_seven, &calls),
                   BDL_STOPPED);
  assert_int_equal(calls, 3);
  bdl_search_request_stop(search); /* from a signal handler or another thread, perhaps */
  assert_int_equal(bdl_search_run(search, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 0, 3, NULL, NULL), BDL_STOPPED);
  OK(bdl_search_run(search, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 0, 3, NULL, NULL)); /* the remaining trials */
  assert_int_equal(bdl_search_trial_count(search), 10);

  OK(bdl_search_best(search, &best));
  OK(bdl_search_trial(search, best, bdl_f64_out(values, 1, 3), &score, &standard_error, &message));
  assert_string_equal(message, "");
  assert_true(values[0] > 1e-3 && score > -0.6 && standard_error > 0); /* the truth has -0.2 */
  OK(bdl_search_apply(search, best, optimizer));
  OK(bdl_optimizer_get_double(optimizer, "learning_rate", &rate));
  assert_true(rate == values[0]);
  OK(bdl_search_folds(search, bdl_f64_out(fold, N, 1))); /* which rows were left out together */
  assert_true(fold[0] >= 0 && fold[0] <= 3);
  bdl_search_free(search);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
}

/* Batches of two trials, whose folds are trained by three threads. */
static void example_parallel_search(void** state) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  bdl_search* search;
  int64_t best;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 1, &posterior));
  OK(bdl_optimizer_create(model, posterior, "slang-ggn", N, &optimizer));
  OK(bdl_search_create(optimizer, 3, 20, BDL_QUADRATURE, 0, 1, &search));
  OK(bdl_search_add_double(search, "learning_rate", 1e-4, 0.5, BDL_SCALE_LOG));
  OK(bdl_search_set_parallel_trials(search, 2));
  OK(bdl_search_set_workers(search, 3));
  OK(bdl_search_run(search, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 3, 4, NULL, NULL));
  assert_int_equal(bdl_search_trial_count(search), 7);
  OK(bdl_search_best(search, &best));
  bdl_search_free(search);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
}

int test_examples_search(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example_search),
                                     cmocka_unit_test(example_parallel_search)};
  return cmocka_run_group_tests(tests, make_data, NULL);
}
