/* Communicators of MPI for libbdl, by its public functions alone. Messages are sent by non-blocking calls, so
 * that waiting may end: at the timeout, or soon after an interrupt. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bdl/bdl.h"
#include "bdl/mpi.h"

enum {
  MOST_BYTES = 1 << 30, /* MPI counts in int */
  SPINS = 2000,         /* tests before a waiting rank lets others have its processor */
  GRACE = 5             /* seconds that an interrupted rank still waits */
};

typedef struct ranks {
  MPI_Comm comm;
  double timeout;
  int rank, size;
  int is_lost;           /* a message has not come: its memory is MPI's for ever */
  MPI_Request* requests; /* of receptions, then of what is sent */
} ranks;

static bdl_status refuse(bdl_status status, const char* function, const char* message) {
  return bdl_report_error(status, function, message);
}

static void pause_briefly(void) {
  const struct timespec time = {0, 50000};
  nanosleep(&time, NULL);
}

/* In a callback: why it fails. */
static int32_t explain(int error) {
  char words[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(error, words, &length) != MPI_SUCCESS)
    snprintf(words, sizeof words, "MPI error %d", error);
  bdl_set_callback_message(words);
  return 1;
}

static int32_t give_up(ranks* r, const char* why) {
  r->is_lost = 1;
  bdl_set_callback_message(why);
  return 2;
}

/* Until all requests are done. Those that are not when it gives up stay with MPI: their memory may still be
 * written to, and the communicator is of no more use. */
static int32_t wait_for(ranks* r, int count) {
  const double began = MPI_Wtime();
  double interrupted_at = 0;
  long tests = 0;
  for (;;) {
    int done = 0;
    const int error = MPI_Testall(count, r->requests, &done, MPI_STATUSES_IGNORE);
    if (error != MPI_SUCCESS) return explain(error);
    if (done) return 0;
    if (++tests < SPINS) continue;
    pause_briefly();
    if (interrupted_at == 0 && bdl_interrupted()) interrupted_at = MPI_Wtime();
    if (interrupted_at > 0 && MPI_Wtime() - interrupted_at > GRACE)
      return give_up(r, "interrupted, and another process has not answered");
    if (r->timeout > 0 && MPI_Wtime() - began > r->timeout)
      return give_up(r, "another process has not answered in time");
  }
}

/* Gives up what has begun where something fails between. */
static int32_t cancel(ranks* r, int count, int32_t answer) {
  int i;
  for (i = 0; i < count; ++i)
    if (r->requests[i] != MPI_REQUEST_NULL) {
      MPI_Cancel(&r->requests[i]);
      MPI_Request_free(&r->requests[i]);
    }
  return answer;
}

/* A part of a long message from `offset` on. */
static int part_of(int64_t bytes, int64_t offset) {
  const int64_t rest = bytes - offset;
  return rest <= 0 ? 0 : rest < MOST_BYTES ? (int)rest : MOST_BYTES;
}

static int receives(ranks* r, int peer, void* receive, int64_t bytes, int64_t offset, int* count) {
  const int part = part_of(bytes, offset);
  if (part == 0) return MPI_SUCCESS;
  return MPI_Irecv((char*)receive + offset, part, MPI_BYTE, peer, 0, r->comm, &r->requests[(*count)++]);
}

static int sends(ranks* r, int peer, const void* send, int64_t bytes, int64_t offset, int* count) {
  const int part = part_of(bytes, offset);
  if (part == 0) return MPI_SUCCESS;
  return MPI_Isend((const char*)send + offset, part, MPI_BYTE, peer, 0, r->comm, &r->requests[(*count)++]);
}

static int32_t exchange(void* user_data, int32_t peer, const void* send, int64_t send_bytes, void* receive,
                        int64_t receive_bytes) {
  ranks* const r = (ranks*)user_data;
  const int64_t longest = send_bytes > receive_bytes ? send_bytes : receive_bytes;
  int64_t offset;
  for (offset = 0; offset < longest; offset += MOST_BYTES) {
    int count = 0, error = receives(r, peer, receive, receive_bytes, offset, &count);
    int32_t answer;
    if (error == MPI_SUCCESS) error = sends(r, peer, send, send_bytes, offset, &count);
    answer = error == MPI_SUCCESS ? wait_for(r, count) : explain(error);
    if (answer != 0) return cancel(r, count, answer);
  }
  return 0;
}

static int32_t gather_parts(ranks* r, const void* send, int64_t bytes, void* receive, const int* counts,
                            const int* places) {
  int32_t answer;
  const int error = MPI_Iallgatherv(send, (int)bytes, MPI_BYTE, receive, counts, places, MPI_BYTE, r->comm,
                                    &r->requests[0]);
  answer = error == MPI_SUCCESS ? wait_for(r, 1) : explain(error);
  return answer; /* a collective cannot be cancelled */
}

/* Uses MPI_Iallgatherv if all sizes fit into int, and messages between all pairs of ranks if not. */
static int32_t all_gather(void* user_data, const void* send, int64_t send_bytes, void* receive,
                          const int64_t* receive_bytes) {
  ranks* const r = (ranks*)user_data;
  int64_t all = 0, longest = send_bytes, offset;
  int* const counts = (int*)(r->requests + 2 * r->size); /* and places */
  int peer;
  for (peer = 0; peer < r->size; ++peer) {
    if (all < MOST_BYTES && receive_bytes[peer] < MOST_BYTES) {
      counts[peer] = (int)receive_bytes[peer];
      counts[r->size + peer] = (int)all;
    }
    all += receive_bytes[peer];
    if (receive_bytes[peer] > longest) longest = receive_bytes[peer];
  }
  if (all <= MOST_BYTES) return gather_parts(r, send, send_bytes, receive, counts, counts + r->size);
  for (offset = 0; offset < longest; offset += MOST_BYTES) {
    int count = 0, error = MPI_SUCCESS;
    int64_t place = 0;
    int32_t answer;
    for (peer = 0; peer < r->size && error == MPI_SUCCESS; place += receive_bytes[peer++])
      error = receives(r, peer, (char*)receive + place, receive_bytes[peer], offset, &count);
    for (peer = 0; peer < r->size && error == MPI_SUCCESS; ++peer)
      error = sends(r, peer, send, send_bytes, offset, &count);
    answer = error == MPI_SUCCESS ? wait_for(r, count) : explain(error);
    if (answer != 0) return cancel(r, count, answer);
  }
  return 0;
}

static void destroy(void* user_data) {
  ranks* const r = (ranks*)user_data;
  int ended = 0;
  MPI_Finalized(&ended);
  if (r->is_lost) return;
  if (!ended) MPI_Comm_free(&r->comm);
  free(r->requests);
  free(r);
}

/* Does MPI run, and may threads that train call it? */
static bdl_status check_runs(const char* function) {
  int runs = 0, ended = 0, level = 0, is_main = 0;
  MPI_Initialized(&runs);
  MPI_Finalized(&ended);
  if (!runs || ended)
    return refuse(BDL_ERROR_UNSUPPORTED, function, ended ? "MPI has ended" : "MPI has not been started");
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  if (level < MPI_THREAD_FUNNELED || (level < MPI_THREAD_SERIALIZED && !is_main))
    return refuse(
        BDL_ERROR_UNSUPPORTED, function,
        "MPI was started for programs without threads (MPI_Init): use MPI_Init_thread with "
        "MPI_THREAD_FUNNELED, or with MPI_THREAD_SERIALIZED to train on other threads than the main one");
  return BDL_OK;
}

static ranks* ranks_of(MPI_Comm comm, double timeout) {
  ranks* const r = (ranks*)calloc(1, sizeof *r);
  if (!r) return NULL;
  r->timeout = timeout;
  if (MPI_Comm_dup(comm, &r->comm) != MPI_SUCCESS) {
    free(r);
    return NULL;
  }
  MPI_Comm_set_errhandler(r->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(r->comm, &r->rank);
  MPI_Comm_size(r->comm, &r->size);
  r->requests = (MPI_Request*)calloc((size_t)r->size, 2 * (sizeof(MPI_Request) + sizeof(int)));
  if (r->requests) return r;
  MPI_Comm_free(&r->comm);
  free(r);
  return NULL;
}

static bdl_status create(const char* function, MPI_Comm comm, double timeout,
                         bdl_communicator** communicator) {
  ranks* r;
  bdl_status status = check_runs(function);
  int is_inter = 0;
  if (status != BDL_OK) return status;
  if (!communicator) return refuse(BDL_ERROR_INVALID_ARGUMENT, function, "communicator is NULL");
  if (!(timeout >= 0))
    return refuse(BDL_ERROR_INVALID_ARGUMENT, function, "timeout is negative, expected 0 or more seconds");
  if (comm == MPI_COMM_NULL) return refuse(BDL_ERROR_INVALID_ARGUMENT, function, "comm is MPI_COMM_NULL");
  if (MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
    return refuse(BDL_ERROR_INVALID_ARGUMENT, function, "comm is no intracommunicator");
  r = ranks_of(comm, timeout);
  if (!r)
    return refuse(BDL_ERROR_OUT_OF_MEMORY, function, "out of memory, or MPI has refused to duplicate comm");
  status = bdl_communicator_create(r->rank, r->size, all_gather, exchange, r, destroy, communicator);
  if (status != BDL_OK) destroy(r);
  return status;
}

static void end_mpi(void) {
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended) MPI_Finalize();
}

bdl_status bdl_communicator_world(double timeout, bdl_communicator** communicator) {
  const char* const function = "bdl_communicator_world";
  int runs = 0, level = 0;
  MPI_Initialized(&runs);
  if (!runs) {
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
      return refuse(BDL_ERROR_COMMUNICATION, function, "MPI could not be started");
    atexit(end_mpi);
  }
  return create(function, MPI_COMM_WORLD, timeout, communicator);
}

bdl_status bdl_communicator_from_mpi(MPI_Comm comm, double timeout, bdl_communicator** communicator) {
  return create("bdl_communicator_from_mpi", comm, timeout, communicator);
}

bdl_status bdl_communicator_from_handle(const void* address, int64_t bytes, double timeout,
                                        bdl_communicator** communicator) {
  const char* const function = "bdl_communicator_from_handle";
  char message[160];
  if (!address) return refuse(BDL_ERROR_INVALID_ARGUMENT, function, "address is NULL");
  if (bytes == (int64_t)sizeof(MPI_Comm))
    return create(function, *(const MPI_Comm*)address, timeout, communicator);
  snprintf(message, sizeof message,
           "an MPI_Comm has %d bytes in the MPI of libbdl_mpi, this one has %lld: it is another MPI's",
           (int)sizeof(MPI_Comm), (long long)bytes);
  return refuse(BDL_ERROR_UNSUPPORTED, function, message);
}

bdl_status bdl_communicator_from_fortran(int32_t handle, double timeout, bdl_communicator** communicator) {
  const char* const function = "bdl_communicator_from_fortran";
  const bdl_status status = check_runs(function); /* MPI_Comm_f2c needs it */
  return status != BDL_OK ? status : create(function, MPI_Comm_f2c((MPI_Fint)handle), timeout, communicator);
}
