// What to take where the caller has no wish: the defaults that depend on the model, once for all languages.
#pragma once

#include "bdl/predict.h"
#include "methods/method.hpp"

namespace bdl {

/// The method for a posterior that is there already. Fails with ERROR_UNSUPPORTED for a stream's dropout.
const Method& suggested_method(const MethodContext& model, Families family, bool is_stream);

/// What an estimator trains a model with.
struct Training {
  const Method* method;
  Families family;
  Index rank;           ///< of a low-rank posterior; 0 of others
  const char* options;  ///< for set_option_text()
};

struct TrainingWish {
  Index examples = 0, inputs = 0, parameters = 0;  ///< of data and model
  bool in_blocks = false;          ///< the data come block by block: there is no optimum to go to
  const Method* method = nullptr;  ///< null: as suits
  bool has_family = false;
  Families family{};
};

Training suggested_training(const MethodContext& model, const TrainingWish& wish);

/// How a model that this method has trained predicts best: linear ones exactly where they can.
bdl_predict_method suggested_prediction(const MethodContext& model, const Method& method);

/// What estimators have that depends on nothing.
struct EstimatorDefault {
  const char* name;
  double value;
  const char* doc;
};
std::span<const EstimatorDefault> estimator_defaults();

/// Epochs of a course where nobody says how many.
inline constexpr Index usual_epochs = 120;

}  // namespace bdl
