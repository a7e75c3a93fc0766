/* Examples of communicators, as docs show them: of one rank, which every program has. */
#include "c_api_test.h"

/* A single rank receives only its own message. */
static int32_t gather_alone(void* user_data, const void* send, int64_t send_bytes, void* receive,
                            const int64_t* receive_bytes) {
  ++*(int*)user_data;
  memcpy(receive, send, (size_t)send_bytes);
  return receive_bytes[0] == send_bytes ? 0 : 1;
}

static int32_t exchange_alone(void* user_data, int32_t peer, const void* send, int64_t send_bytes,
                              void* receive, int64_t receive_bytes) {
  (void)user_data, (void)peer, (void)send, (void)send_bytes, (void)receive, (void)receive_bytes;
  bdl_set_callback_message("there is no other rank");
  return 1;
}

static int32_t gather_nothing(void* user_data, const void* send, int64_t send_bytes, void* receive,
                              const int64_t* receive_bytes) {
  (void)user_data, (void)send, (void)send_bytes, (void)receive, (void)receive_bytes;
  bdl_set_callback_message("the cable is out");
  return -1;
}

static void forget(void* user_data) {
  *(int*)user_data = -1;
}

static void example_communicator(void** state) {
  const double x[] = {0, 1, 2, 3, 4, 5}, y[] = {1, 2, 3, 4, 5, 6};
  const int64_t sizes[] = {1, 1};
  int calls = 0;
  int32_t rank = -1, size = -1;
  int64_t counted = 0, sent = -1, received = -1;
  double seconds = -1;
  bdl_communicator* ranks;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  (void)state;
  OK(bdl_communicator_create(0, 1, gather_alone, exchange_alone, &calls, forget, &ranks));
  OK(bdl_communicator_size(ranks, &rank, &size));
  assert_true(rank == 0 && size == 1);
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 0, &q));
  OK(bdl_optimizer_create(model, q, "vogn", 6, &optimizer));
  OK(bdl_optimizer_set_communicator(optimizer, ranks));
  OK(bdl_optimizer_fit(optimizer, bdl_f64(x, 6, 1), bdl_f64(y, 6, 1), 2, NULL, NULL));
  OK(bdl_communicator_statistics(ranks, &counted, &sent, &received, &seconds));
  assert_true(counted == calls && calls > 0 && sent == 0 && received == 0 && seconds >= 0);
  bdl_communicator_free(ranks); /* the optimizer still has it */
  assert_true(calls > 0);
  OK(bdl_optimizer_set_communicator(optimizer, NULL)); /* alone again */
  assert_int_equal(calls, -1);
  OK(bdl_optimizer_fit(optimizer, bdl_f64(x, 6, 1), bdl_f64(y, 6, 1), 2, NULL, NULL));
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* A search on ranks: every rank runs it, and gets all trials. */
static void example_search_communicator(void** state) {
  const double x[] = {0, 1, 2, 3, 4, 5}, y[] = {1, 2, 3, 4, 5, 6};
  const int64_t sizes[] = {1, 1};
  int calls = 0;
  bdl_communicator* ranks;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  bdl_search* search;
  (void)state;
  OK(bdl_communicator_create(0, 1, gather_alone, exchange_alone, &calls, NULL, &ranks));
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 0, &q));
  OK(bdl_optimizer_create(model, q, "vogn", 6, &optimizer));
  OK(bdl_search_create(optimizer, 2, 5, BDL_MONTE_CARLO, 10, 1, &search));
  OK(bdl_search_add_double(search, "learning_rate", 1e-3, 1e-1, BDL_SCALE_LOG));
  OK(bdl_search_set_communicator(search, ranks));
  OK(bdl_search_run(search, bdl_f64(x, 6, 1), bdl_f64(y, 6, 1), 2, 2, NULL, NULL));
  assert_true(bdl_search_trial_count(search) == 4 && calls > 0);
  OK(bdl_search_set_communicator(search, NULL)); /* alone again */
  bdl_search_free(search);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
  bdl_communicator_free(ranks);
}

/* A failing callback says why. */
static void example_callback_message(void** state) {
  const double x[] = {0, 1, 2, 3, 4, 5};
  const int64_t sizes[] = {1, 1};
  bdl_communicator* ranks;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  (void)state;
  OK(bdl_communicator_create(0, 1, gather_nothing, exchange_alone, NULL, NULL, &ranks));
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 0, &q));
  OK(bdl_optimizer_create(model, q, "map", 6, &optimizer));
  OK(bdl_optimizer_set_communicator(optimizer, ranks));
  assert_int_equal(bdl_optimizer_fit(optimizer, bdl_f64(x, 6, 1), bdl_f64(x, 6, 1), 2, NULL, NULL),
                   BDL_ERROR_COMMUNICATION);
  assert_string_equal(bdl_last_error(),
                      "bdl_optimizer_fit: rank 0 of 1: the all_gather callback returned -1, expected 0: the "
                      "cable is out");
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
  bdl_communicator_free(ranks);
}

static int32_t yes(void* user_data) {
  (void)user_data;
  return 1;
}

/* A callback that waits for long asks whether its call was interrupted. */
static void example_interrupted(void** state) {
  (void)state;
  assert_int_equal(bdl_interrupted(), 0);
  bdl_set_interrupt(yes, NULL);
  assert_int_equal(bdl_interrupted(), 1);
  bdl_set_interrupt(NULL, NULL);
  assert_int_equal(bdl_interrupted(), 0);
}

/* A library on top of libbdl fails as libbdl does. */
static void example_report_error(void** state) {
  (void)state;
  assert_int_equal(bdl_report_error(BDL_ERROR_FILE, "my_read", "there is no such file"), BDL_ERROR_FILE);
  assert_string_equal(bdl_last_error(), "my_read: there is no such file");
}

int test_examples_communicator(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_communicator),     cmocka_unit_test(example_search_communicator),
      cmocka_unit_test(example_callback_message), cmocka_unit_test(example_interrupted),
      cmocka_unit_test(example_report_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
