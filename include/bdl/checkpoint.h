/**
 * @file checkpoint.h
 * Checkpoints: one safetensors file with posterior, model description, noise, options, prior
 * precisions, optimizer state, seed and step, readable by the safetensors tools of every language.
 * Every tensor and the header have a checksum (docs/how-to/save-and-load.md); files of versions without them load, files
 * that lack some of them do not.
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
 * Writes a checkpoint: a temporary file in the same folder is written, flushed, and put in place in one step, so
 * that a failure, a killed process or a power cut leaves an older file intact. Temporary files of processes that
 * were killed are removed. A full disk or a limit of the file size is BDL_ERROR_FILE, without a signal. The new
 * file has the permissions of the older one, and the owner of the process; other hard links keep the old contents.
 * Before writing, it checks that bdl_load() accepts the state. If not, it returns BDL_ERROR_INTERNAL and leaves an
 * older file alone. Since 0.1.
 * @param path      file to write; a symbolic link is replaced, not followed
 * @param model     may be NULL
 * @param posterior may be NULL
 * @param optimizer may be NULL; if given, its own model and posterior are saved, and the former two
 *                  arguments must be NULL or those handles. Not all three may be NULL
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_SHAPE (parts that do not fit),
 *         BDL_ERROR_OUT_OF_MEMORY (the check needs as much memory again as the saved tensors),
 *         BDL_ERROR_INTERNAL (the state would not load)
 */
BDL_API bdl_status bdl_save(const char* path, const bdl_model* model, const bdl_posterior* posterior,
                            const bdl_optimizer* optimizer);

/**
 * Reads a checkpoint; the file is not trusted, and damage is named (BDL_ERROR_FORMAT, with the tensor). A file
 * larger than what memory holds is refused before anything is allocated. Training that goes on from it gives
 * results identical to those of training that never stopped. Since 0.1.
 * @param path       file to read
 * @param user_model the callbacks cannot be saved: the model to use if the file's model is a user's own
 *                   (same inputs, outputs, parameters, likelihood, dtype); NULL otherwise. It takes over
 *                   the file's noise precision, names and class type
 * @param model      receives a new handle (for a user model: another handle of the same object)
 * @param posterior  receives a new handle
 * @param optimizer  receives a new handle sharing the other two. Any out-pointer may be NULL if that
 *                   part is not wanted; wanting a part the file lacks is BDL_ERROR_FORMAT
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_FORMAT, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_load(const char* path, bdl_model* user_model, bdl_model** model,
                            bdl_posterior** posterior, bdl_optimizer** optimizer);

/**
 * Says which parts a checkpoint holds, each 1 or 0. Only its header is read. Any out-pointer may be NULL.
 * Since 0.1.
 * @param path       file to read
 * @param model      receives whether there is a model
 * @param user_model receives whether that is a user's own, which bdl_load() needs to be given
 * @param posterior  receives whether there is a posterior
 * @param optimizer  receives whether there is an optimizer
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_FORMAT, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_checkpoint_parts(const char* path, int32_t* model, int32_t* user_model,
                                        int32_t* posterior, int32_t* optimizer);

/**
 * Writes the contents of the file that bdl_save() would make to memory: for pickling, data bases, messages. Since
 * 0.1.
 * @param model     as for bdl_save()
 * @param posterior as for bdl_save()
 * @param optimizer as for bdl_save()
 * @param buffer    receives the bytes; NULL to ask for their number
 * @param capacity  bytes that the buffer has; fewer than needed: BDL_ERROR_SHAPE. 0 if it is NULL
 * @param size      receives the number of bytes needed
 */
BDL_API bdl_status bdl_save_bytes(const bdl_model* model, const bdl_posterior* posterior,
                                  const bdl_optimizer* optimizer, void* buffer, int64_t capacity,
                                  int64_t* size);

/** As bdl_load(), from what bdl_save_bytes() or a file has given; the bytes are not trusted. Since 0.1. */
BDL_API bdl_status bdl_load_bytes(const void* bytes, int64_t size, bdl_model* user_model, bdl_model** model,
                                  bdl_posterior** posterior, bdl_optimizer** optimizer);

#ifdef __cplusplus
}
#endif

#endif
