// The method, family, rank and options to use if the user names none. They depend on the model, and are the
// same in all languages.
#pragma once

#include "bdl/predict.h"
#include "methods/method.hpp"

namespace bdl {

/// Returns the method for an existing posterior. Fails with ERROR_UNSUPPORTED for families that streams
/// cannot learn.
const Method& suggested_method(const MethodContext& model, Families family, bool is_stream);

/// The training that an estimator gives a model.
struct Training {
  const Method* method;
  Families family;
  Index rank;           ///< 0 for families without one
  const char* options;  ///< for set_option_text()
};

/// The wishes of the user for training.
struct TrainingWish {
  Index examples = 0, inputs = 0, parameters = 0;  ///< sizes of data and model
  bool in_blocks = false;          ///< the data come block by block, so that no optimum can be computed
  const Method* method = nullptr;  ///< null if the user names none
  bool has_family = false;
  Families family{};
};

Training suggested_training(const MethodContext& model, const TrainingWish& wish);

/// Returns how a model that this method has trained predicts best; linear models predict exactly if they can.
bdl_predict_method suggested_prediction(const MethodContext& model, const Method& method);

/// A default of the estimators that does not depend on the model.
struct EstimatorDefault {
  const char* name;
  double value;
  const char* doc;
};
std::span<const EstimatorDefault> estimator_defaults();

/// Number of epochs of a course if the user says none.
inline constexpr Index usual_epochs = 100;

}  // namespace bdl
