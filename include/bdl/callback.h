/**
 * @file callback.h
 * Messages from your callbacks to the library.
 */
#ifndef BDL_CALLBACK_H
#define BDL_CALLBACK_H

#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets the message of a callback that is about to report failure. The bdl_last_error() of the failed call
 * ends with this message. The library copies at most 200 bytes of it, and drops it if the callback
 * succeeds. If the callback throws a std::exception, its what() takes the place of the message. Since 0.2.
 * @param message UTF-8; NULL: none
 */
BDL_API void bdl_set_callback_message(const char* message);

#ifdef __cplusplus
}
#endif

#endif
