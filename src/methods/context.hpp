// What the defaults of methods, and what fits together, depend on.
#pragma once

#include <string>

#include "model/model.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

struct MethodContext {
  bool has_model = false;     ///< without one there are steps on the caller's rows only
  bool is_network = false;    ///< not a model of the user's
  bool has_gradients = true;  ///< a user's model may lack them
  bool has_hidden = false;    ///< a network with hidden units
  bool is_deep = false;       ///< in two layers or more
  bool is_linear = false;     ///< a generalised linear model
  bool has_maps = false;      ///< convolutions or pools
  Shape input{};              ///< a network's
  bool is_exact = false;      ///< its expectations are one-dimensional integrals (exact_estimator.hpp)
  std::string without_second_derivatives{};  ///< the first layer that has none; empty: all have
  std::string without_one_function{};        ///< the first layer that draws masks or noise, or normalises
  std::string without_separate_examples{};   ///< the first layer that normalises by the minibatch
  bdl_likelihood likelihood = BDL_GAUSSIAN;
  Index data_size = 1;

  bool has_classes() const { return likelihood == BDL_BERNOULLI || likelihood == BDL_CATEGORICAL; }
};

/// `model` may be null.
template <class T>
MethodContext context_of(const Model<T>* model, Index data_size);

}  // namespace bdl
