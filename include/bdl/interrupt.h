/**
 * @file interrupt.h
 * Interrupting long calls (Ctrl-C of an interpreter, a cancelled request) without a second thread.
 */
#ifndef BDL_INTERRUPT_H
#define BDL_INTERRUPT_H

#include <stdint.h>

#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Callback: decides whether the call in progress goes on.
 * @param user_data as given to bdl_set_interrupt()
 * @return 0 to go on; any other value ends the call in progress. An exception makes the call fail
 */
typedef int32_t (*bdl_interrupt_fn)(void* user_data);

/**
 * Sets a function that long calls of this thread ask, on this thread, whether to go on. Such calls are fit,
 * observe, search, Laplace's approximation, the ELBO, predictions, derivatives, questions about posteriors,
 * metrics, saving and loading, and passes over data sets. They ask between their steps or chunks, inside
 * steps that take longer than 10 ms, and at most every 10 ms. A call that is ended returns BDL_STOPPED.
 * Training is then as after its last completed step, observed block or trial. Other calls have written
 * nothing, or everything if they were already writing; the outputs of bdl_posterior_solve(),
 * bdl_posterior_sample() and bdl_save_bytes() are then unspecified. Since 0.1.
 * @param interrupt the function; NULL for none
 * @param user_data passed to the function
 */
BDL_API void bdl_set_interrupt(bdl_interrupt_fn interrupt, void* user_data);

/**
 * Asks the function of bdl_set_interrupt(), at most every 10 ms. Callbacks that wait for long call it.
 * Since 0.2.
 * @return 1 if the call in progress on this thread is to end: the callback should return soon, and the call
 *         ends without asking again. Else 0
 */
BDL_API int32_t bdl_interrupted(void);

#ifdef __cplusplus
}
#endif

#endif
