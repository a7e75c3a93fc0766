// Predictors answer any number of queries: draws are made once, and later predictions allocate nothing. An
// ensemble predicts by the equal mixture of members that were trained independently (deep ensembles:
// Lakshminarayanan et al. 2017); with one member it is a predictor like any other.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "predict/memory.hpp"
#include "predict/predict.hpp"

namespace bdl {

template <class T>
class Predictor {
 public:
  using Scalar = T;
  /// Copies model and posterior, so later changes of them affect no prediction.
  Predictor(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec);
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  const Model<T>& model() const { return *model_; }
  /// Returns a query that uses the predictor's memory: only one may be in use at a time.
  Query<T> query(const Array& x) { return {*model_, *posterior_, x, spec_, &memory_}; }

 private:
  void reserve_rules();
  std::unique_ptr<const Model<T>> model_;
  std::unique_ptr<const Posterior<T>> posterior_;
  PredictSpec spec_;
  PredictMemory<T> memory_;
};

/// Fails with the error's status, naming the member.
[[noreturn]] void fail_member(Index j, const Error& error);

/// Calls act() for member j; its errors name the member if there are several.
template <class Act>
void in_member(Index j, Index members, Act&& act) {
  if (members == 1) return act();
  try {
    act();
  } catch (const Error& error) {
    fail_member(j, error);
  }
}

template <class T>
class Ensemble {
 public:
  using Scalar = T;
  /// Adds a member. Fails with ERROR_SHAPE unless its outputs have the meaning of the first member's.
  void add(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec);

  // Predictions, each as documented in bdl/predict.h.
  void moments(const Array& x, const OutArray& mean, const OutArray& epistemic, const OutArray& noise);
  void quantiles(const Array& x, const Array& levels, const OutArray& quantiles);
  void interval(const Array& x, double probability, const OutArray& lower, const OutArray& upper);
  void classes(const Array& x, const OutArray& probabilities, const OutArray& entropy,
               const OutArray& mutual_information);
  void log_density(const Array& x, const Array& y, const OutArray& log_density);
  void draws(const Array& x, const OutArray& draws);
  void quantiles_of(const Array& x, bdl_quantity quantity, const Array& levels, const OutArray& quantiles);
  void draws_of(const Array& x, bdl_quantity quantity, const OutArray& draws);
  void log_likelihood(const Array& x, const Array& y, const OutArray& log_likelihood);
  void output_distribution(const Array& x, const OutArray& mean, const OutArray& covariance);
  void leverage(const Array& x, const OutArray& leverage, const OutArray& left_out);

 private:
  Index count() const { return static_cast<Index>(members_.size()); }
  const Model<T>& model() const { return members_[0]->model(); }
  /// Calls ask(j, query) for each member in turn.
  template <class Ask>
  void each(const Array& x, Ask&& ask) {
    for (Index j = 0; j < count(); ++j)
      in_member(j, count(), [&] { ask(j, members_[static_cast<std::size_t>(j)]->query(x)); });
  }
  /// Writes `columns` columns of samples of all members, member by member.
  template <class Draw>
  void collect_draws(const Array& x, Index columns, const OutArray& draws, Draw&& draw);
  void find_components(const Array& x);
  template <class Write>
  void visit_quantiles(const Array& x, Write&& write);
  void output_law(Predictor<T>& member, const Array& x, const OutArray& mean, const OutArray& covariance);

  std::vector<std::unique_ptr<Predictor<T>>> members_;
  // If there are several members: their answers, and the results computed from them.
  std::array<Buffer<double>, 3> answers_, results_;
  Buffer<double> pooled_;  // draws of all members
  std::vector<Tail> tails_;
  Components found_;               // components of one member
  std::vector<Components> mixed_;  // of all members, for each target of some examples, in the caller's units
};

}  // namespace bdl
