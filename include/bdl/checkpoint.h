/**
 * @file checkpoint.h
 * Checkpoints: one safetensors file with posterior, model description, noise, options, prior
 * precisions, optimizer state, seed and step, readable by the safetensors tools of every language.
 */
#ifndef BDL_CHECKPOINT_H
#define BDL_CHECKPOINT_H

#include "bdl/matrix.h"
#include "bdl/model.h"
#include "bdl/optimizer.h"
#include "bdl/posterior.h"
#include "bdl/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a checkpoint: to a temporary file beside it, flushed, then renamed, so that a failure leaves
 * an older file intact. Since 0.1.
 * @param path      file to write; a symbolic link is replaced, not followed
 * @param model     may be NULL
 * @param posterior may be NULL
 * @param optimizer may be NULL; if given, its own model and posterior are saved, and the former two
 *                  arguments must be NULL or those handles. Not all three may be NULL
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_SHAPE (parts that do not fit),
 *         BDL_ERROR_UNSUPPORTED (a full posterior after steps with option "matrix_gradient" = "unsymmetric"),
 *         BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_save(const char* path, const bdl_model* model, const bdl_posterior* posterior,
                            const bdl_optimizer* optimizer);

/**
 * Reads a checkpoint; the file is not trusted. Training that goes on from it gives the same bits as
 * training that had never stopped. Since 0.1.
 * @param path       file to read
 * @param user_model the callbacks cannot be saved: the model to use if the file's model is a user's own
 *                   (same inputs, outputs, parameters, likelihood, dtype); NULL otherwise. It takes over
 *                   the file's noise precision
 * @param model      receives a new handle (for a user model: another handle of the same object)
 * @param posterior  receives a new handle
 * @param optimizer  receives a new handle sharing the other two. Any out-pointer may be NULL if that
 *                   part is not wanted; wanting a part the file lacks is BDL_ERROR_FORMAT
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_FORMAT, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_load(const char* path, bdl_model* user_model, bdl_model** model,
                            bdl_posterior** posterior, bdl_optimizer** optimizer);

#ifdef __cplusplus
}
#endif

#endif
