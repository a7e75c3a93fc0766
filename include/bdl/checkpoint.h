/**
 * @file checkpoint.h
 * Checkpoints: one safetensors file with posterior, model description, noise, options, prior precisions,
 * optimizer state, seed and step. The safetensors tools of every language can read it.
 *
 * Every tensor and the header have a checksum. Files of older versions without checksums load; files that
 * lack some of their checksums do not.
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
 * Writes a checkpoint. The function writes and flushes a temporary file in the same folder and puts it in
 * place in one step, so that a failure, a killed process or a power cut leaves an older file intact. It
 * removes temporary files of processes that were killed. A full disk or a limit of the file size is
 * BDL_ERROR_FILE, without a signal. The new file has the permissions of the older file and the owner of the
 * process; other hard links keep the old contents. Before it writes, the function checks that bdl_load()
 * accepts the state. If not, it returns BDL_ERROR_INTERNAL and does not touch an older file. Since 0.1.
 * @param path      file to write; a symbolic link is replaced, not followed
 * @param model     may be NULL
 * @param posterior may be NULL
 * @param optimizer may be NULL; if given, its own model and posterior are saved, and the arguments model
 *                  and posterior must be NULL or those handles. Not all three may be NULL
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_SHAPE (parts that do not fit),
 *         BDL_ERROR_OUT_OF_MEMORY (the check needs as much memory again as the saved tensors),
 *         BDL_ERROR_INTERNAL (the state would not load)
 */
BDL_API bdl_status bdl_save(const char* path, const bdl_model* model, const bdl_posterior* posterior,
                            const bdl_optimizer* optimizer);

/**
 * Reads a checkpoint. The file is not trusted: damage is BDL_ERROR_FORMAT, and the message names the
 * tensor. A file that is larger than memory is refused before anything is allocated. Training that
 * continues from the checkpoint gives results identical to those of training that never stopped. Since 0.1.
 * @param path       file to read
 * @param user_model the model to use if the file's model is a custom model, because callbacks cannot be saved
 *                   (same inputs, outputs, parameters, likelihood, dtype); NULL otherwise. It takes the
 *                   noise precision, names and class type of the file
 * @param model      receives a new handle (for a custom model: another handle of the same object)
 * @param posterior  receives a new handle
 * @param optimizer  receives a new handle that shares model and posterior. Any out-pointer may be NULL if
 *                   that part is not wanted; a wanted part that the file lacks is BDL_ERROR_FORMAT
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_FORMAT, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY,
 *         BDL_ERROR_UNSUPPORTED (an optimizer has user_model, and the file's rows have other columns)
 */
BDL_API bdl_status bdl_load(const char* path, bdl_model* user_model, bdl_model** model,
                            bdl_posterior** posterior, bdl_optimizer** optimizer);

/**
 * Reads which parts a checkpoint holds, each as 1 or 0, from its header only. Any out-pointer may be NULL.
 * Since 0.1.
 * @param path       file to read
 * @param model      receives 1 if there is a model
 * @param user_model receives 1 if that is a custom model, which bdl_load() needs as an argument
 * @param posterior  receives 1 if there is a posterior
 * @param optimizer  receives 1 if there is an optimizer
 * @return BDL_OK, BDL_ERROR_FILE, BDL_ERROR_FORMAT, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_OUT_OF_MEMORY
 */
BDL_API bdl_status bdl_checkpoint_parts(const char* path, int32_t* model, int32_t* user_model,
                                        int32_t* posterior, int32_t* optimizer);

/**
 * Writes the contents of the file that bdl_save() would make to memory, for pickling, data bases and
 * messages. Since 0.1.
 * @param model     as for bdl_save()
 * @param posterior as for bdl_save()
 * @param optimizer as for bdl_save()
 * @param buffer    receives the bytes; NULL to ask for their number
 * @param capacity  size of the buffer in bytes; fewer than needed: BDL_ERROR_SHAPE. 0 if buffer is NULL
 * @param size      receives the number of bytes needed
 */
BDL_API bdl_status bdl_save_bytes(const bdl_model* model, const bdl_posterior* posterior,
                                  const bdl_optimizer* optimizer, void* buffer, int64_t capacity,
                                  int64_t* size);

/**
 * Reads a checkpoint as bdl_load() does, from the bytes of bdl_save_bytes() or of a file. The bytes are not
 * trusted. Since 0.1.
 * @param bytes      the checkpoint
 * @param size       number of bytes
 * @param user_model as for bdl_load()
 * @param model      as for bdl_load()
 * @param posterior  as for bdl_load()
 * @param optimizer  as for bdl_load()
 */
BDL_API bdl_status bdl_load_bytes(const void* bytes, int64_t size, bdl_model* user_model, bdl_model** model,
                                  bdl_posterior** posterior, bdl_optimizer** optimizer);

#ifdef __cplusplus
}
#endif

#endif
