/* Ranks that are processes of MPI. usage: mpirun -n N mpi_ranks MODE
 *   train    all ranks have the results of one process that trains, or searches, alone
 *   late     a rank that does not come is noticed at the timeout
 *   killed   the launcher ends all ranks when one is killed, with a status that is not 0
 *   handles  communicators of other MPIs, and of none, are refused */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bdl/bdl.h"
#include "bdl/mpi.h"

enum { ROWS = 96, INPUTS = 4, BYTES = 1 << 20 };

static double x[ROWS * INPUTS], y[ROWS];

static void ok(bdl_status status, const char* what) {
  if (status == BDL_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, bdl_status_name(status), bdl_last_error());
  exit(1);
}
#define OK(call) ok((call), #call)

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "not so: %s (%s)\n", what, bdl_last_error());
  exit(1);
}

static void make_data(void) {
  int i, j;
  for (i = 0; i < ROWS; ++i) {
    for (j = 0; j < INPUTS; ++j) x[i * INPUTS + j] = sin(1.3 * i + 0.7 * j * i);
    y[i] = x[i * INPUTS] > 0 ? 1 : x[i * INPUTS + 1] > 0 ? 2 : 0;
  }
}

/* Trains, with these ranks or alone, and returns the size of the checkpoint in `bytes`. */
static int64_t train(bdl_communicator* ranks, const char* method, bdl_status expected, void* bytes) {
  const int64_t sizes[] = {INPUTS, 8, 3};
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  int64_t size = 0;
  bdl_status status;
  OK(bdl_model_create_mlp(BDL_F32, sizes, 3, BDL_TANH, 1, BDL_CATEGORICAL, &model));
  OK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), 0, &q));
  OK(bdl_optimizer_create(model, q, method, ROWS, &optimizer));
  OK(bdl_optimizer_set_text(optimizer, "shards=8 minibatch=24"));
  OK(bdl_optimizer_set_communicator(optimizer, ranks));
  status = bdl_optimizer_fit(optimizer, bdl_f64(x, ROWS, INPUTS), bdl_f64(y, ROWS, 1), 3, NULL, NULL);
  expect(status == expected, "the status of fit");
  OK(bdl_save_bytes(model, q, optimizer, bytes, BYTES, &size));
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
  return size;
}

/* Searches, with these ranks or alone: the values and scores of four trials. */
static void search(bdl_communicator* ranks, double* trials) {
  const int64_t sizes[] = {INPUTS, 4, 3};
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  bdl_search* s;
  int k;
  OK(bdl_model_create_mlp(BDL_F32, sizes, 3, BDL_TANH, 1, BDL_CATEGORICAL, &model));
  OK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), 0, &q));
  OK(bdl_optimizer_create(model, q, "vogn", ROWS, &optimizer));
  OK(bdl_search_create(optimizer, 3, 2, BDL_PLUG_IN, 1, 1, &s));
  OK(bdl_search_add_double(s, "learning_rate", 0.001, 0.1, BDL_SCALE_LOG));
  OK(bdl_search_set_parallel_trials(s, 2));
  OK(bdl_search_set_communicator(s, ranks));
  OK(bdl_search_run(s, bdl_f64(x, ROWS, INPUTS), bdl_f64(y, ROWS, 1), 2, 2, NULL, NULL));
  for (k = 0; k < 4; ++k)
    OK(bdl_search_trial(s, k, bdl_f64_out(trials + 2 * k, 1, 1), trials + 2 * k + 1, NULL, NULL));
  bdl_search_free(s);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void all_have_the_bits_of_one(bdl_communicator* ranks) {
  static char alone[BYTES], together[BYTES];
  const char* const methods[] = {"vogn", "bbb", "map"};
  double trials_alone[8], trials_together[8];
  int32_t rank, size;
  int64_t received;
  int k;
  OK(bdl_communicator_size(ranks, &rank, &size));
  for (k = 0; k < 3; ++k) {
    const int64_t bytes = train(NULL, methods[k], BDL_OK, alone);
    expect(train(ranks, methods[k], BDL_OK, together) == bytes, "the size of the checkpoint");
    expect(memcmp(alone, together, (size_t)bytes) == 0, "the same bits");
  }
  search(NULL, trials_alone);
  search(ranks, trials_together);
  expect(memcmp(trials_alone, trials_together, sizeof trials_alone) == 0, "the same trials");
  OK(bdl_communicator_statistics(ranks, NULL, NULL, &received, NULL));
  expect(size == 1 || received > 0, "bytes have been received");
}

static void late_ranks_are_noticed(void) {
  static char bytes[BYTES];
  bdl_communicator* ranks;
  int32_t rank;
  double began, seconds;
  OK(bdl_communicator_world(0.5, &ranks));
  OK(bdl_communicator_size(ranks, &rank, NULL));
  if (rank == 1) sleep(20);
  began = MPI_Wtime();
  train(ranks, "vogn", BDL_ERROR_COMMUNICATION, bytes);
  seconds = MPI_Wtime() - began;
  expect(strstr(bdl_last_error(), "has not answered in time") != NULL, "the words");
  expect(seconds >= 0.5 && seconds < 5, "at the timeout");
  printf("late: noticed\n");
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 0);
}

static void handles_are_checked(void) {
  bdl_communicator* ranks = NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int32_t size = 0;
  expect(bdl_communicator_from_fortran(0, 0, &ranks) == BDL_ERROR_UNSUPPORTED, "MPI has not been started");
  OK(bdl_communicator_world(0, &ranks));
  bdl_communicator_free(ranks);
  ranks = NULL;
  expect(bdl_communicator_from_handle(&comm, sizeof comm, 0, &ranks) == BDL_ERROR_INVALID_ARGUMENT, "null");
  comm = MPI_COMM_SELF;
  expect(bdl_communicator_from_handle(&comm, sizeof comm + 4, 0, &ranks) == BDL_ERROR_UNSUPPORTED,
         "another size");
  expect(strstr(bdl_last_error(), "bdl_communicator_from_handle: an MPI_Comm has") != NULL, "the words");
  expect(bdl_communicator_from_handle(NULL, sizeof comm, 0, &ranks) == BDL_ERROR_INVALID_ARGUMENT,
         "no address");
  expect(bdl_communicator_from_mpi(comm, -1, &ranks) == BDL_ERROR_INVALID_ARGUMENT, "a negative timeout");
  expect(bdl_communicator_from_mpi(comm, 0, NULL) == BDL_ERROR_INVALID_ARGUMENT, "no handle");
  expect(ranks == NULL, "nothing was written");
  OK(bdl_communicator_from_handle(&comm, sizeof comm, 1, &ranks));
  OK(bdl_communicator_size(ranks, NULL, &size));
  expect(size == 1, "one rank");
  all_have_the_bits_of_one(ranks);
  bdl_communicator_free(ranks);
  OK(bdl_communicator_from_fortran((int32_t)MPI_Comm_c2f(MPI_COMM_SELF), 1, &ranks));
  bdl_communicator_free(ranks);
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  make_data();
  if (!strcmp(mode, "handles")) {
    handles_are_checked();
  } else if (!strcmp(mode, "late")) {
    late_ranks_are_noticed();
  } else if (!strcmp(mode, "killed")) {
    static char bytes[BYTES];
    bdl_communicator* ranks;
    int32_t rank;
    OK(bdl_communicator_world(30, &ranks));
    OK(bdl_communicator_size(ranks, &rank, NULL));
    if (rank == 1) raise(SIGKILL);
    train(ranks, "vogn", BDL_ERROR_COMMUNICATION, bytes);
    sleep(30);
  } else if (!strcmp(mode, "train")) {
    bdl_communicator* ranks;
    OK(bdl_communicator_world(30, &ranks));
    all_have_the_bits_of_one(ranks);
    bdl_communicator_free(ranks);
  } else {
    return 2;
  }
  return 0;
}
