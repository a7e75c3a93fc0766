/**
 * @file communicator.h
 * Training by several processes (or threads), each of which holds an equal optimizer. A communicator
 * connects them; the number of a process in its communicator is called its rank.
 *
 * Each process works on its shards of every minibatch. The sums of all shards are added in one fixed order,
 * so that all processes have identical results, whatever their number (option "shards"). The library moves
 * bytes through two callbacks. libbdl_mpi (mpi.h) has these callbacks for MPI, and any other code that
 * moves bytes can provide them.
 *
 *     bdl_communicator* processes;
 *     bdl_communicator_world(0, &processes);              // of libbdl_mpi; or bdl_communicator_create()
 *     bdl_optimizer_set_communicator(optimizer, processes);
 *     bdl_optimizer_fit(optimizer, x, y, epochs, NULL, NULL);   // in every process, with equal arguments
 *
 * docs/how-to/several-machines.md describes what processes must have in common, what happens if a process
 * fails, and how long training takes.
 */
#ifndef BDL_COMMUNICATOR_H
#define BDL_COMMUNICATOR_H

#include <stdint.h>

#include "bdl/optimizer.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A connection of processes. */
typedef struct bdl_communicator bdl_communicator;

/**
 * Callback: sends a message of each process to all processes. All processes call it at the same time, on
 * the thread of their call in progress. It may give up after a while, and should give up if
 * bdl_interrupted() returns 1.
 * @param user_data     as given to bdl_communicator_create()
 * @param send          message of this process
 * @param send_bytes    length of this message
 * @param receive       to be filled with the messages of ranks 0, 1, ... one after the other, including
 *                      that of this process
 * @param receive_bytes lengths of the messages, one for each rank
 * @return 0; any other value, or an exception, is a failure: the call in progress ends with
 *         BDL_ERROR_COMMUNICATION. bdl_set_callback_message() may explain it
 */
typedef int32_t (*bdl_all_gather_fn)(void* user_data, const void* send, int64_t send_bytes, void* receive,
                                     const int64_t* receive_bytes);

/**
 * Callback: swaps messages with one other process, which does the same at the same time.
 * @param user_data     as given to bdl_communicator_create()
 * @param peer          rank of the other process
 * @param send          message of this process
 * @param send_bytes    length of this message
 * @param receive       to be filled with the message of the other process
 * @param receive_bytes length of that message
 * @return as for bdl_all_gather_fn
 */
typedef int32_t (*bdl_exchange_fn)(void* user_data, int32_t peer, const void* send, int64_t send_bytes,
                                   void* receive, int64_t receive_bytes);

/**
 * Creates a communicator of two callbacks. One call at a time uses it. Since 0.2.
 * @param rank         rank of this process, 0 to size - 1
 * @param size         number of processes, 1 to 32768
 * @param all_gather   see bdl_all_gather_fn
 * @param exchange     see bdl_exchange_fn
 * @param user_data    passed to both callbacks
 * @param destroy      called once with user_data when the communicator and all optimizers that use it are
 *                     freed; may be NULL. If this call fails, destroy is not called
 * @param communicator receives the handle; free it with bdl_communicator_free()
 */
BDL_API bdl_status bdl_communicator_create(int32_t rank, int32_t size, bdl_all_gather_fn all_gather,
                                           bdl_exchange_fn exchange, void* user_data,
                                           void (*destroy)(void* user_data), bdl_communicator** communicator);

/** Frees the handle; optimizers that use the communicator keep it alive. NULL is allowed. Since 0.2. */
BDL_API void bdl_communicator_free(bdl_communicator* communicator);

/**
 * Reads the rank of this process and the number of processes. Any out-pointer may be NULL. Since 0.2.
 * @param communicator a communicator
 * @param rank         receives the rank of this process
 * @param size         receives the number of processes
 */
BDL_API bdl_status bdl_communicator_size(const bdl_communicator* communicator, int32_t* rank, int32_t* size);

/**
 * Reads how much the communicator has sent and received so far. Any out-pointer may be NULL. Since 0.2.
 * @param communicator a communicator
 * @param calls        receives the number of calls of its callbacks
 * @param sent         receives the bytes that other processes have received from this one, counted for each
 *                     receiver
 * @param received     receives the bytes that this process has received from others
 * @param seconds      receives the time spent in its callbacks, including the wait for other processes
 */
BDL_API bdl_status bdl_communicator_statistics(const bdl_communicator* communicator, int64_t* calls,
                                               int64_t* sent, int64_t* received, double* seconds);

/**
 * Reports that a function of a library on top of this one, such as libbdl_mpi, has failed. Since 0.2.
 * @param status  an error, which is returned
 * @param caller  name of the function; bdl_last_error() will be "caller: message"
 * @param message what was wrong
 */
BDL_API bdl_status bdl_report_error(bdl_status status, const char* caller, const char* message);

/**
 * Makes bdl_optimizer_fit(), bdl_optimizer_fit_dataset(), bdl_optimizer_step(), bdl_optimizer_laplace() and
 * bdl_optimizer_laplace_dataset() collective calls. All processes make these calls with equal arguments, on
 * optimizers that are equal in everything but option "threads" and, for fits, the progress function, which
 * only rank 0 calls. Each process has its own data sets, of the same rows. A process reads only the rows of
 * its shards of x and y: shard v of V has rows v n / V to (v + 1) n / V - 1. Since 0.2.
 *
 * If processes differ, all of them fail, and the message names the difference. A step is taken by all
 * processes or by none. If one process fails, it returns its own error, and the others return
 * BDL_ERROR_PEER with its rank and message. If training diverged (BDL_ERROR_DIVERGED), or one process was
 * asked to stop (BDL_STOPPED), all processes return that status. Afterwards all processes hold the same
 * posterior, and any of them may predict or save it.
 *
 * Several processes can use methods whose minibatches, or all data, are sums over examples or are rows that
 * processes swap: docs/how-to/several-machines.md lists them. Other methods return BDL_ERROR_UNSUPPORTED,
 * with the reason.
 * @param optimizer    an optimizer with a model
 * @param communicator NULL: train alone again
 */
BDL_API bdl_status bdl_optimizer_set_communicator(bdl_optimizer* optimizer, bdl_communicator* communicator);

#ifdef __cplusplus
}
#endif

#endif
