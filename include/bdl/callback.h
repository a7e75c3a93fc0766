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
 * Called by a callback that is about to report failure: says why, in a sentence with which the failed call's
 * bdl_last_error() then ends. Copied, at most 200 bytes of it; forgotten when the callback succeeds. The what()
 * of a std::exception that the callback throws takes its place. Since 0.2.
 * @param message UTF-8; NULL: none
 */
BDL_API void bdl_set_callback_message(const char* message);

#ifdef __cplusplus
}
#endif

#endif
