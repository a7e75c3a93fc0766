/**
 * @file status.h
 * Status codes, and the explanation of the last failure.
 */
#ifndef BDL_STATUS_H
#define BDL_STATUS_H

#if defined(__GNUC__)
#define BDL_API __attribute__((visibility("default")))
#else
#define BDL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Result of every fallible function. Numbers are pinned for ever; new ones are appended. The last name of
 * this and of every other enum only keeps the enum as large as an int32_t; it is not a value.
 */
typedef enum bdl_status {
  BDL_OK = 0,                     /**< success */
  BDL_ERROR_INVALID_ARGUMENT = 1, /**< an argument is NULL, out of range, contradictory or in use */
  BDL_ERROR_SHAPE = 2,            /**< an array has the wrong number of rows or columns, or type */
  BDL_ERROR_NOT_FINITE = 3,       /**< input data contain NaN or infinity; the message names the place */
  BDL_ERROR_LABEL = 4,            /**< a target is not valid for the likelihood */
  BDL_ERROR_UNKNOWN_OPTION = 5,   /**< no option of that name; the message offers the nearest */
  BDL_ERROR_UNSUPPORTED = 6,      /**< these handles do not offer this operation */
  BDL_ERROR_OUT_OF_MEMORY = 7,    /**< memory could not be allocated */
  BDL_ERROR_FILE = 8,             /**< a file could not be opened, read or written */
  BDL_ERROR_FORMAT = 9,           /**< a file is not a valid checkpoint */
  BDL_ERROR_DIVERGED = 10,        /**< training diverged and is back in its last good state; a step met a
                                         non-finite value and was not taken; or outputs have no meaning */
  BDL_ERROR_CALLBACK = 11,        /**< a callback of the caller reported failure or threw */
  BDL_STOPPED = 12,               /**< ended on request (not a failure): training after a completed step */
  BDL_ERROR_INTERNAL = 13,        /**< a defect in libbdl; please report it */
  BDL_ERROR_PEER = 14,            /**< another process failed in a collective call: its rank and message */
  BDL_ERROR_COMMUNICATION = 15,   /**< processes have lost each other; the communicator is unusable */
  BDL_STATUS_FORCE_INT32 = 0x7fffffff
} bdl_status;

/**
 * Returns the name of a status, for example "BDL_ERROR_SHAPE", or "unknown status" for other numbers. The
 * string is static. Since 0.1.
 */
BDL_API const char* bdl_status_name(bdl_status status);

/**
 * Returns the message of the last failed call on this thread, as "function: argument, got, expected", or ""
 * if no call has failed. Messages count rows, columns, examples and the like from 0, and then say
 * "(counting from 0)". The string is valid until the next failing call on this thread; successful calls do
 * not change it. Since 0.1.
 */
BDL_API const char* bdl_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
