// Defaults that depend on the model, for callers who choose nothing. All languages use them.
#pragma once

#include "bdl/predict.h"
#include "methods/method.hpp"

namespace bdl {

/// Returns the method for a posterior of this family. Fails with ERROR_UNSUPPORTED for families that no
/// method for streams learns.
const Method& suggested_method(const MethodContext& model, Families family, bool is_stream);

/// The method, posterior and options with which an estimator trains a model.
struct Training {
  const Method* method;
  Families family;
  Index rank;           ///< rank of a low-rank posterior; 0 for others
  const char* options;  ///< text for set_option_text()
};

/// Sizes of data and model, and choices that the caller has made.
struct TrainingWish {
  Index examples = 0, inputs = 0, parameters = 0;  ///< sizes of data and model
  bool in_blocks = false;          ///< true if the data come block by block: no optimum can be found
  const Method* method = nullptr;  ///< null: the one that suits the model
  bool has_family = false;
  Families family{};
};

Training suggested_training(const MethodContext& model, const TrainingWish& wish);

/// Returns how a model that this method has trained predicts best: exactly, for linear models that can.
bdl_predict_method suggested_prediction(const MethodContext& model, const Method& method);

/// A default of the estimators that does not depend on the model.
struct EstimatorDefault {
  const char* name;
  double value;
  const char* doc;
};
std::span<const EstimatorDefault> estimator_defaults();

/// Default number of epochs of a course.
inline constexpr Index usual_epochs = 120;

}  // namespace bdl
