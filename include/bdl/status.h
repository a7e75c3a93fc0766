/**
 * @file status.h
 * Status codes and the explanation of the last failure.
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
 * this and of every other enum only keeps it as large as an int32_t, and is no value of it.
 */
typedef enum bdl_status {
  BDL_OK = 0,                     /**< success */
  BDL_ERROR_INVALID_ARGUMENT = 1, /**< an argument is NULL, out of range, contradictory or in use */
  BDL_ERROR_SHAPE = 2,            /**< an array has the wrong number of rows or columns, or type */
  BDL_ERROR_NOT_FINITE = 3,       /**< input data contain NaN or infinity; the message says where */
  BDL_ERROR_LABEL = 4,            /**< a target is not valid for the likelihood */
  BDL_ERROR_UNKNOWN_OPTION = 5,   /**< no option of that name; the message offers the nearest */
  BDL_ERROR_UNSUPPORTED = 6,      /**< these handles do not offer this operation */
  BDL_ERROR_OUT_OF_MEMORY = 7,    /**< memory could not be allocated */
  BDL_ERROR_FILE = 8,             /**< a file could not be opened, read or written */
  BDL_ERROR_FORMAT = 9,           /**< a file is not a valid checkpoint */
  BDL_ERROR_DIVERGED = 10,        /**< training diverged, and is in its last good state; it met a non-finite
                                         value, and the step was not taken; or outputs have no meaning */
  BDL_ERROR_CALLBACK = 11,        /**< a callback of the caller reported failure or threw */
  BDL_STOPPED = 12,               /**< ended on request (not a failure): training after a completed step */
  BDL_ERROR_INTERNAL = 13,        /**< a defect in libbdl; please report it */
  BDL_ERROR_PEER = 14,            /**< another rank failed in a collective call: its number and message */
  BDL_ERROR_COMMUNICATION = 15,   /**< ranks have lost each other, and the communicator is of no more use */
  BDL_STATUS_FORCE_INT32 = 0x7fffffff
} bdl_status;

/**
 * Name of a status, for example "BDL_ERROR_SHAPE"; "unknown status" for other numbers.
 * The string is static. Since 0.1.
 */
BDL_API const char* bdl_status_name(bdl_status status);

/**
 * What the last failed call on this thread said, as "function: argument, got, expected"; "" if none
 * has failed. Rows, columns, examples and the like count from 0 in messages, which then say so: "(counting from
 * 0)". Valid until the next failing call on this thread; successful calls leave it alone. Since 0.1.
 */
BDL_API const char* bdl_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
