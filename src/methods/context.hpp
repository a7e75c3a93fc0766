// The properties of model and data on which the defaults of methods and the checks of combinations depend.
#pragma once

#include <string>

#include "model/model.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

struct MethodContext {
  bool has_model = false;     ///< false: only steps on the caller's rows work
  bool is_network = false;    ///< false for a user's model
  bool has_gradients = true;  ///< false for a user's model without gradients callback
  bool has_hidden = false;    ///< true for a network with hidden units
  bool is_deep = false;       ///< true for a network with two hidden layers or more
  bool is_linear = false;     ///< true for a generalised linear model
  bool has_maps = false;      ///< true for a network with convolutions or pools
  Shape input{};              ///< input of a network
  bool is_exact = false;      ///< true if expectations are one-dimensional integrals (exact_estimator.hpp)
  std::string without_second_derivatives{};  ///< the first layer that has none; empty: all have
  std::string without_one_function{};        ///< the first layer that draws masks or noise, or normalises
  std::string without_separate_examples{};   ///< the first layer that normalises by the minibatch
  bdl_likelihood likelihood = BDL_GAUSSIAN;
  Index data_size = 1;

  bool has_classes() const { return likelihood == BDL_BERNOULLI || likelihood == BDL_CATEGORICAL; }
};

/// Returns the context of a model, which may be null.
template <class T>
MethodContext context_of(const Model<T>* model, Index data_size);

}  // namespace bdl
