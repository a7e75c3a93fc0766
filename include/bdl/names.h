/**
 * @file names.h
 * Names of a model's inputs, targets and classes.
 *
 * Names are saved with the model (checkpoint.h), so a program in any language that loads the model knows
 * its columns and classes. The library computes nothing with them.
 */
#ifndef BDL_NAMES_H
#define BDL_NAMES_H

#include "bdl/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The things that have names. */
typedef enum bdl_named {
  BDL_INPUT = 1,  /**< columns of x: bdl_model_inputs() */
  BDL_TARGET = 2, /**< columns of y: bdl_model_targets() */
  /** values of y: those of BDL_CATEGORICAL, by number, and 0 and 1 of BDL_BERNOULLI with one output */
  BDL_CLASS = 3,
  BDL_NAMED_FORCE_INT32 = 0x7fffffff
} bdl_named;

/** Types of class labels, so that each language can restore labels of its own type from their names. */
typedef enum bdl_class_type {
  BDL_CLASS_TEXT = 1,
  BDL_CLASS_ORDERED = 2, /**< text, with the order of the class numbers (ordered factors) */
  BDL_CLASS_INTEGER = 3, /**< "-3" */
  BDL_CLASS_REAL = 4,    /**< "0.5", "1e-3", "inf" */
  BDL_CLASS_BOOLEAN = 5, /**< "false", "true" */
  BDL_CLASS_TYPE_FORCE_INT32 = 0x7fffffff
} bdl_class_type;

/**
 * Gives an input, a target or a class a name. The estimators of the other languages set and use names.
 * Since 0.3.
 * @param model a model
 * @param what  BDL_INPUT, BDL_TARGET or BDL_CLASS
 * @param index number of the column, from 0; for a class, the number that y has for it
 * @param name  UTF-8, up to 65535 bytes; "": no name
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_UNSUPPORTED (a class of a model without classes)
 */
BDL_API bdl_status bdl_model_set_name(bdl_model* model, bdl_named what, int64_t index, const char* name);

/**
 * Reads a name. Since 0.3.
 * @param model a model
 * @param what  BDL_INPUT, BDL_TARGET or BDL_CLASS
 * @param index number of the column or class, from 0
 * @param name  receives the name, "" if there is none. The model owns the text, which lives until a name is
 *              set
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_UNSUPPORTED (a class of a model without classes)
 */
BDL_API bdl_status bdl_model_get_name(const bdl_model* model, bdl_named what, int64_t index,
                                      const char** name);

/**
 * Sets the type of the class labels; a new model has BDL_CLASS_TEXT. The type is saved with the model.
 * Since 0.3.
 * @param model a model with classes
 * @param type  a bdl_class_type
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_UNSUPPORTED (a model without classes)
 */
BDL_API bdl_status bdl_model_set_class_type(bdl_model* model, bdl_class_type type);

/**
 * Reads the type of the class labels. Since 0.3.
 * @param model a model with classes
 * @param type  receives a bdl_class_type
 * @return BDL_OK, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_UNSUPPORTED (a model without classes)
 */
BDL_API bdl_status bdl_model_get_class_type(const bdl_model* model, int32_t* type);

#ifdef __cplusplus
}
#endif

#endif
