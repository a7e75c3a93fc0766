// Predictive distributions as mixtures: p(y | x_i) = sum_k w_k p(y | f_ik).
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

/// Arguments of every prediction; x is in the caller's units.
template <class T>
struct Query {
  const Model<T>& model;
  const Posterior<T>& posterior;
  Array x;
  PredictSpec spec;
  PredictMemory<T>* memory = nullptr;  ///< kept from one query to the next; null if this is the only one
  bool refined = true;  ///< false: linearised methods use the trained posterior, as for the ELBO

  /// Returns the posterior by which a linearised network predicts.
  const Posterior<T>& linearized_posterior() const {
    return refined && posterior.refinement() ? *posterior.refinement() : posterior;
  }
};

/// Predictive distribution of one example's standardised targets. If the integral over a Gaussian f has a
/// closed form, or an approximation that was asked for, there is one component: f is its mean, with a
/// covariance.
struct Mixture {
  ConstMatrixView<double> f;  // C x K
  ConstSpan<double> weights;
  ConstMatrixView<double> covariance = {};  // C x C; no data for 0
  bool overflows = false;                   // f or its covariance exceeds the model's type (overflow.hpp)

  Index components() const { return f.cols; }
  double weight(Index k) const { return weights[static_cast<std::size_t>(k)]; }
  bool is_gaussian() const { return covariance.data; }
  double variance(Index c) const { return covariance.data ? covariance(c, c) : 0; }
};

/// Limits on what is held at a time: examples, and elements of outputs, of parameters and of Jacobians (which
/// should stay in the cache). One example and one draw are always held; draws that do not fit are repeated
/// for every chunk of examples.
struct ChunkLimits {
  Index examples = 2048;
  Index outputs = Index{1} << 21;
  Index parameters = Index{3} << 20;
  Index jacobians = Index{1} << 17;
};

using MixtureVisitor = FunctionRef<void(Index example, const Mixture& mixture)>;

inline bool has_classes(const Likelihood& likelihood) {
  return likelihood.has_classes();
}

/// True if the method averages over samples.
bool draws_samples(bdl_predict_method method);

/// Fails unless that number of draws can be made.
void check_samples(Index samples);

/// Fails unless the spec suits model and posterior.
template <class T>
void check_spec(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec);

/// As check_spec(), and fails unless x suits the model.
template <class T>
void check_query(const Query<T>& query);

/// Makes the draws of the parameters that the spec asks for; the query's memory keeps them.
template <class T>
void keep_draws(const Query<T>& query);

/// Calls visit for one example after the other. Equal seeds give equal draws of the parameters, whatever x.
template <class T>
void visit_mixtures(const Query<T>& query, MixtureVisitor visit, const ChunkLimits& limits = {});

}  // namespace bdl
