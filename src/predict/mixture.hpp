// Every predictive distribution is a mixture, p(y | x_i) = sum_k w_k p(y | f_ik): the methods differ only in
// how f_ik and w_k arise.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "base/function_ref.hpp"
#include "bdl/predict.h"
#include "model/model.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

struct PredictSpec {
  bdl_predict_method method;
  Index samples;
  std::uint64_t seed;
};

template <class T>
struct PredictMemory;

/// What every prediction is made from, x in the caller's units.
template <class T>
struct Query {
  const Model<T>& model;
  const Posterior<T>& posterior;
  Array x;
  PredictSpec spec;
  PredictMemory<T>* memory = nullptr;  ///< kept from one query to the next; null: of this one alone
};

/// The predictive distribution of one example, of its standardised targets. Where the integral over a
/// Gaussian f has a closed form (or an approximation asked for by name) there is one component: f is its
/// mean, around which it has a covariance.
struct Mixture {
  ConstMatrixView<double> f;  // C x K
  ConstSpan<double> weights;
  ConstMatrixView<double> covariance = {};  // C x C, or without data: 0
  bool overflows = false;                   // f or its covariance is beyond the model's type: overflow.hpp

  Index components() const { return f.cols; }
  double weight(Index k) const { return weights[static_cast<std::size_t>(k)]; }
  bool is_gaussian() const { return covariance.data; }
  double variance(Index c) const { return covariance.data ? covariance(c, c) : 0; }
};

/// What is held at a time, as far as one example and one draw allow: examples, and elements of outputs, of
/// parameters and of Jacobians (which should stay in the cache). Draws that do not fit are drawn again for
/// every chunk of examples.
struct ChunkLimits {
  Index examples = 2048;
  Index outputs = Index{1} << 21;
  Index parameters = Index{3} << 20;
  Index jacobians = Index{1} << 17;
};

using MixtureVisitor = FunctionRef<void(Index example, const Mixture& mixture)>;

inline bool has_classes(const Likelihood& likelihood) {
  return likelihood.kind() == BDL_BERNOULLI || likelihood.kind() == BDL_CATEGORICAL;
}

/// Does the method average over samples?
bool draws_samples(bdl_predict_method method);

/// Fails unless that many draws can be made.
void check_samples(Index samples);

/// Fails unless the spec suits model and posterior.
template <class T>
void check_spec(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec);

/// The same, and fails unless x suits the model.
template <class T>
void check_query(const Query<T>& query);

/// The draws of the parameters that the spec asks for, into the memory, which keeps them from now on.
template <class T>
void keep_draws(const Query<T>& query);

/// Calls visit for one example after the other. Equal seeds give equal draws of the parameters, whatever x.
template <class T>
void visit_mixtures(const Query<T>& query, MixtureVisitor visit, const ChunkLimits& limits = {});

}  // namespace bdl
