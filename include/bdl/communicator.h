/**
 * @file communicator.h
 * Training by several processes, or threads, that each hold the same optimizer: the ranks of a communicator.
 *
 * Each rank works on its shards of every minibatch; the sums of all shards are added up in one fixed order, so
 * that all ranks have identical results, whatever their number (option "shards"). The
 * library moves bytes through two callbacks; libbdl_mpi (bdl/mpi.h) has them for MPI, and anything else that
 * moves bytes will do:
 *
 *   bdl_communicator* ranks;
 *   bdl_communicator_world(0, &ranks);                  // libbdl_mpi; or bdl_communicator_create()
 *   bdl_optimizer_set_communicator(optimizer, ranks);
 *   bdl_optimizer_fit(optimizer, x, y, epochs, NULL, NULL);   // on every rank, with the same arguments
 *
 * docs/how-to/several-machines.md says what ranks must have in common, what happens if one fails, and how long training takes.
 */
#ifndef BDL_COMMUNICATOR_H
#define BDL_COMMUNICATOR_H

#include <stdint.h>

#include "bdl/optimizer.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bdl_communicator bdl_communicator;

/**
 * Callback: every rank gives a message, and gets those of all ranks. All ranks call it at the same time, on
 * the thread of their call in progress. It may give up after a while, and should where bdl_interrupted() says
 * so.
 * @param user_data     as given to bdl_communicator_create()
 * @param send          this rank's message
 * @param send_bytes    its length
 * @param receive       to be filled with the messages of ranks 0, 1, ..., its own one among them, one after the
 *                      other
 * @param receive_bytes their lengths, one for each rank
 * @return 0; any other value, or an exception, is a failure, which bdl_set_callback_message() may explain: the
 *         call in progress ends with BDL_ERROR_COMMUNICATION
 */
typedef int32_t (*bdl_all_gather_fn)(void* user_data, const void* send, int64_t send_bytes, void* receive,
                                     const int64_t* receive_bytes);

/**
 * Callback: swaps messages with one other rank, which does the same at the same time.
 * @param user_data     as given to bdl_communicator_create()
 * @param peer          the other rank
 * @param send          this rank's message
 * @param send_bytes    its length
 * @param receive       to be filled with the other rank's
 * @param receive_bytes its length
 * @return as of bdl_all_gather_fn
 */
typedef int32_t (*bdl_exchange_fn)(void* user_data, int32_t peer, const void* send, int64_t send_bytes,
                                   void* receive, int64_t receive_bytes);

/**
 * New communicator of two callbacks. It is used by one call at a time. Since 0.2.
 * @param rank         this rank, 0 to size - 1
 * @param size         number of ranks, 1 to 32768
 * @param all_gather   see bdl_all_gather_fn
 * @param exchange     see bdl_exchange_fn
 * @param user_data    handed to both
 * @param destroy      called once with user_data when the communicator and all optimizers that have it are
 *                     freed; may be NULL. If this call fails, it is not called
 * @param communicator receives the handle; free with bdl_communicator_free()
 */
BDL_API bdl_status bdl_communicator_create(int32_t rank, int32_t size, bdl_all_gather_fn all_gather,
                                           bdl_exchange_fn exchange, void* user_data,
                                           void (*destroy)(void* user_data), bdl_communicator** communicator);

/** Frees the handle; optimizers that have the communicator keep it alive. NULL is fine. Since 0.2. */
BDL_API void bdl_communicator_free(bdl_communicator* communicator);

/**
 * Reads this rank and the number of ranks. Any out-pointer may be NULL. Since 0.2.
 * @param communicator a communicator
 * @param rank         receives this rank
 * @param size         receives the number of ranks
 */
BDL_API bdl_status bdl_communicator_size(const bdl_communicator* communicator, int32_t* rank, int32_t* size);

/**
 * Reads what the communicator has done so far. Any out-pointer may be NULL. Since 0.2.
 * @param communicator a communicator
 * @param calls        receives the number of calls of its callbacks
 * @param sent         receives the bytes that other ranks have got from this one, once for each of them
 * @param received     receives the bytes that this rank has got from others
 * @param seconds      receives the time spent in its callbacks, waiting for other ranks included
 */
BDL_API bdl_status bdl_communicator_statistics(const bdl_communicator* communicator, int64_t* calls,
                                               int64_t* sent, int64_t* received, double* seconds);

/**
 * Reports that a function of a library on top of this one, such as libbdl_mpi, has failed. Since 0.2.
 * @param status  an error, which is returned
 * @param caller  its name; bdl_last_error() will be "caller: message"
 * @param message what was wrong
 */
BDL_API bdl_status bdl_report_error(bdl_status status, const char* caller, const char* message);

/**
 * Makes bdl_optimizer_fit(), bdl_optimizer_fit_dataset(), bdl_optimizer_step(), bdl_optimizer_laplace() and
 * bdl_optimizer_laplace_dataset() collective calls: all ranks make them, with the same arguments (of data sets,
 * each rank has its own, on the same rows), on optimizers that are the same in everything but options "threads"
 * (and for fits progress, which only rank 0 reports). Each rank reads only its own shards' rows of x and y:
 * shard v of V has rows v n / V to (v + 1) n / V - 1. Where ranks differ, all of them fail and name the
 * difference. A step is taken by all ranks or by none: where one rank fails, it has its own error, and the
 * others have BDL_ERROR_PEER with its number and message; where training diverged (BDL_ERROR_DIVERGED) or one
 * rank was asked to stop (BDL_STOPPED), all have that. Afterwards all ranks hold the same posterior, and any of
 * them may predict or save it. Since 0.2.
 *
 * More than one rank works for methods whose minibatches, or all data, come as sums over examples, or as rows
 * that the ranks swap: docs/how-to/several-machines.md has the list. Other methods are refused here, with the reason:
 * BDL_ERROR_UNSUPPORTED.
 * @param optimizer    an optimizer with a model
 * @param communicator NULL: alone again
 */
BDL_API bdl_status bdl_optimizer_set_communicator(bdl_optimizer* optimizer, bdl_communicator* communicator);

#ifdef __cplusplus
}
#endif

#endif
