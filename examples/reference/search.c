/* Search of hyper-parameters by cross-validation. */
#include "example.h"

enum { N = 60 };

/* y = 3 x + noise of standard deviation 0.3, on [-1, 1]. */
static double x[N], y[N];

/* [bdl_search_run] */
/* Counts the trials, and ends the search with the seventh. */
static int32_t stop_at_seven(void* user_data, const bdl_search* search) {
  ++*(int*)user_data;
  return bdl_search_trial_count(search) == 7;
}
/* [bdl_search_run] */

static void search_one_by_one(bdl_optimizer* opt) {
  const bdl_matrix inputs = bdl_f64(x, N, 1), targets = bdl_f64(y, N, 1);
  /* [bdl_search_create] [bdl_search_free] */
  bdl_search* search; /* four folds, 100 epochs each */
  CHECK(bdl_search_create(opt, 4, 100, BDL_QUADRATURE, 0, 1, &search));
  /* [bdl_search_create] [bdl_search_free] */
  /* [bdl_search_add_double] */
  CHECK(bdl_search_add_double(search, "learning_rate", 1e-4, 0.5,
                              BDL_SCALE_LOG));
  /* [bdl_search_add_double] */
  /* [bdl_search_add_int] */
  CHECK(bdl_search_add_int(search, "samples", 1, 8, BDL_SCALE_LINEAR));
  /* [bdl_search_add_int] */
  /* [bdl_search_add_choice] */
  CHECK(bdl_search_add_choice(search, "curvature", "mc-ggn | mc-ef"));
  /* [bdl_search_add_choice] */

  /* [bdl_search_run] */
  CHECK(bdl_search_run(search, inputs, targets, 4, 0, NULL,
                       NULL)); /* four random trials */
  int calls = 0;               /* then up to six Bayesian ones */
  bdl_status status =
      bdl_search_run(search, inputs, targets, 0, 6, stop_at_seven, &calls);
  printf("%s after %d more trials\n", bdl_status_name(status), calls);
  /* [bdl_search_run] */
  EXPECT(status == BDL_STOPPED && calls == 3);

  /* [bdl_search_request_stop] */
  bdl_search_request_stop(
      search); /* as a signal handler or another thread would */
  status = bdl_search_run(search, inputs, targets, 0, 3, NULL, NULL);
  printf("%s\n", bdl_status_name(status));
  /* [bdl_search_request_stop] */
  EXPECT(status == BDL_STOPPED);
  CHECK(bdl_search_run(search, inputs, targets, 0, 3, NULL,
                       NULL)); /* the remaining trials */

  /* [bdl_search_trial_count] */
  printf("%d trials\n", (int)bdl_search_trial_count(search));
  /* [bdl_search_trial_count] */
  EXPECT(bdl_search_trial_count(search) == 10);

  /* [bdl_search_best] [bdl_search_trial] */
  int64_t best;
  double values[3], score, standard_error;
  const char* message;
  CHECK(bdl_search_best(search, &best));
  CHECK(bdl_search_trial(search, best, bdl_f64_out(values, 1, 3), &score,
                         &standard_error, &message));
  printf("learning rate %.2g: %.2f +- %.2f nats per row\n", values[0],
         score, standard_error);
  /* [bdl_search_best] [bdl_search_trial] */
  EXPECT(strcmp(message, "") == 0 && values[0] > 1e-3 && score > -0.6 &&
         standard_error > 0);

  /* [bdl_search_apply] */
  double rate;
  CHECK(bdl_search_apply(search, best,
                         opt)); /* the optimizer gets the best values */
  CHECK(bdl_optimizer_get_double(opt, "learning_rate", &rate));
  printf("applied: %d\n", rate == values[0]);
  /* [bdl_search_apply] */
  EXPECT(rate == values[0]);

  /* [bdl_search_folds] */
  double fold[N];
  CHECK(bdl_search_folds(search, bdl_f64_out(fold, N, 1)));
  printf("row 0 was left out with fold %g\n", fold[0]);
  /* [bdl_search_folds] */
  EXPECT(fold[0] >= 0 && fold[0] <= 3);
  /* [bdl_search_free] */
  bdl_search_free(search);
  /* [bdl_search_free] */
}

static void search_in_parallel(bdl_optimizer* opt) {
  bdl_search* search;
  int64_t best;
  CHECK(bdl_search_create(opt, 3, 20, BDL_QUADRATURE, 0, 1, &search));
  CHECK(bdl_search_add_double(search, "learning_rate", 1e-4, 0.5,
                              BDL_SCALE_LOG));
  /* [bdl_search_set_parallel_trials] [bdl_search_set_workers] */
  CHECK(bdl_search_set_parallel_trials(
      search, 2)); /* two Bayesian trials at a time */
  CHECK(bdl_search_set_workers(search,
                               3)); /* three threads train the folds */
  CHECK(bdl_search_run(search, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 3, 4,
                       NULL, NULL));
  /* [bdl_search_set_parallel_trials] [bdl_search_set_workers] */
  EXPECT(bdl_search_trial_count(search) == 7);
  CHECK(bdl_search_best(search, &best));
  bdl_search_free(search);
}

/* A process that is alone receives its own message. */
static int32_t gather(void* user_data, const void* send, int64_t send_bytes,
                      void* receive, const int64_t* receive_bytes) {
  ++*(int*)user_data;
  memcpy(receive, send, (size_t)send_bytes);
  return receive_bytes[0] == send_bytes ? 0 : 1;
}

static int32_t exchange(void* user_data, int32_t peer, const void* send,
                        int64_t send_bytes, void* receive,
                        int64_t receive_bytes) {
  (void)user_data, (void)peer, (void)send, (void)send_bytes, (void)receive,
      (void)receive_bytes;
  return 1; /* there is no other process */
}

static void search_by_processes(bdl_optimizer* opt) {
  int calls = 0;
  bdl_search* search;
  bdl_communicator* processes;
  CHECK(bdl_communicator_create(0, 1, gather, exchange, &calls, NULL,
                                &processes));
  CHECK(bdl_search_create(opt, 2, 5, BDL_MONTE_CARLO, 10, 1, &search));
  CHECK(bdl_search_add_double(search, "learning_rate", 1e-3, 1e-1,
                              BDL_SCALE_LOG));
  /* [bdl_search_set_communicator] */
  CHECK(bdl_search_set_communicator(
      search, processes)); /* every process runs the search */
  CHECK(bdl_search_run(search, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 2, 2,
                       NULL, NULL));
  printf("all processes have %d trials\n",
         (int)bdl_search_trial_count(search));
  /* [bdl_search_set_communicator] */
  EXPECT(bdl_search_trial_count(search) == 4 && calls > 0);
  CHECK(bdl_search_set_communicator(search, NULL)); /* alone again */
  bdl_search_free(search);
  bdl_communicator_free(processes);
}

int main(void) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  draw_normal(y, N);
  for (int i = 0; i < N; ++i) {
    x[i] = 2.0 * i / (N - 1) - 1;
    y[i] = 3 * x[i] + 0.3 * y[i];
  }
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, &q));
  CHECK(bdl_optimizer_create(model, q, "slang-ggn", N, &opt));
  search_one_by_one(opt);
  search_in_parallel(opt);
  search_by_processes(opt);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
  return 0;
}
