/* Communicators of one process; libbdl_mpi has them for many. */
#include "example.h"

/* [bdl_communicator_create] */
/* A process that is alone receives only its own message. */
static int32_t gather(void* user_data, const void* send, int64_t send_bytes,
                      void* receive, const int64_t* receive_bytes) {
  ++*(int*)user_data;
  memcpy(receive, send, (size_t)send_bytes);
  return receive_bytes[0] == send_bytes ? 0 : 1;
}

static int32_t exchange(void* user_data, int32_t peer, const void* send,
                        int64_t send_bytes, void* receive,
                        int64_t receive_bytes) {
  (void)user_data, (void)peer, (void)send, (void)send_bytes, (void)receive;
  (void)receive_bytes;
  bdl_set_callback_message("there is no other process");
  return 1;
}
/* [bdl_communicator_create] */

static int32_t gather_nothing(void* user_data, const void* send,
                              int64_t send_bytes, void* receive,
                              const int64_t* receive_bytes) {
  (void)user_data, (void)send, (void)send_bytes, (void)receive,
      (void)receive_bytes;
  bdl_set_callback_message("the cable is out");
  return -1;
}

static void forget(void* user_data) {
  *(int*)user_data = -1;
}

int main(void) {
  const int64_t sizes[] = {1, 1};
  const double numbers[] = {0, 1, 2, 3, 4, 5, 6};
  const bdl_matrix x = bdl_f64(numbers, 6, 1),
                   y = bdl_f64(numbers + 1, 6, 1);
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, BDL_GAUSSIAN,
                             &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  CHECK(bdl_optimizer_create(model, q, "vogn", 6, &opt));

  /* [bdl_communicator_create] */
  int calls = 0;
  bdl_communicator* processes;
  CHECK(bdl_communicator_create(0, 1, gather, exchange, &calls, forget,
                                &processes));
  /* [bdl_communicator_create] */

  /* [bdl_communicator_size] */
  int32_t rank, size;
  CHECK(bdl_communicator_size(processes, &rank, &size));
  printf("process %d of %d\n", rank, size);
  /* [bdl_communicator_size] */
  EXPECT(rank == 0 && size == 1);

  /* [bdl_optimizer_set_communicator] */
  CHECK(bdl_optimizer_set_communicator(opt, processes));
  CHECK(bdl_optimizer_fit(opt, x, y, 2, NULL, NULL)); /* in every process */
  /* [bdl_optimizer_set_communicator] */

  /* [bdl_communicator_statistics] */
  int64_t counted, sent, received;
  double seconds;
  CHECK(bdl_communicator_statistics(processes, &counted, &sent, &received,
                                    &seconds));
  printf("%d bytes sent, %d received\n", (int)sent, (int)received);
  /* [bdl_communicator_statistics] */
  EXPECT(counted == calls && calls > 0 && sent == 0 && received == 0 &&
         seconds >= 0);

  /* [bdl_communicator_free] */
  bdl_communicator_free(processes); /* the optimizer still has it */
  /* [bdl_communicator_free] */
  EXPECT(calls > 0);
  CHECK(bdl_optimizer_set_communicator(
      opt, NULL)); /* alone again: calls forget() */
  EXPECT(calls == -1);
  CHECK(bdl_optimizer_fit(opt, x, y, 2, NULL, NULL));
  bdl_optimizer_free(opt);

  /* A callback that fails, and says why. */
  CHECK(bdl_communicator_create(0, 1, gather_nothing, exchange, NULL, NULL,
                                &processes));
  CHECK(bdl_optimizer_create(model, q, "map", 6, &opt));
  CHECK(bdl_optimizer_set_communicator(opt, processes));
  EXPECT(bdl_optimizer_fit(opt, x, y, 2, NULL, NULL) ==
         BDL_ERROR_COMMUNICATION);
  EXPECT(
      strcmp(bdl_last_error(),
             "bdl_optimizer_fit: process 0 of 1: the all_gather callback "
             "returned "
             "-1, expected 0: the "
             "cable is out") == 0);
  bdl_communicator_free(processes);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);

  /* [bdl_report_error] */
  /* In a library on top of libbdl, which fails as libbdl does: */
  bdl_status status =
      bdl_report_error(BDL_ERROR_FILE, "my_read", "there is no such file");
  printf("%s: %s\n", bdl_status_name(status), bdl_last_error());
  /* [bdl_report_error] */
  EXPECT(status == BDL_ERROR_FILE);
  EXPECT(strcmp(bdl_last_error(), "my_read: there is no such file") == 0);
  return 0;
}
