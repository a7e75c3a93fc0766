// Deep ensembles: predictions by the equal mixture of members that were trained independently
// (Lakshminarayanan et al. 2017). One member is a predictor like any other.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "predict/predictor.hpp"

namespace bdl {

/// act() for member j of so many; its errors name the member where there are several.
template <class Act>
void in_member(Index j, Index members, Act&& act) {
  if (members == 1) return act();
  try {
    act();
  } catch (const Error& error) {
    fail(error.status(), "member %lld (counting from 0): %s", static_cast<long long>(j), error.what());
  }
}

template <class T>
class Ensemble {
 public:
  using Scalar = T;
  /// Fails with ERROR_SHAPE unless the model's outputs mean what the first member's do.
  void add(const Model<T>& model, const Posterior<T>& posterior, const PredictSpec& spec);

  // As documented in bdl/predict.h, each.
  void moments(const Array& x, const OutArray& mean, const OutArray& epistemic, const OutArray& noise);
  void quantiles(const Array& x, const Array& levels, const OutArray& quantiles);
  void interval(const Array& x, double probability, const OutArray& lower, const OutArray& upper);
  void classes(const Array& x, const OutArray& probabilities, const OutArray& entropy,
               const OutArray& mutual_information);
  void log_density(const Array& x, const Array& y, const OutArray& log_density);
  void draws(const Array& x, const OutArray& draws);
  void output_distribution(const Array& x, const OutArray& mean, const OutArray& covariance);

 private:
  Index count() const { return static_cast<Index>(members_.size()); }
  const Model<T>& model() const { return members_[0]->model(); }
  /// ask(j, query) of each member in turn.
  template <class Ask>
  void each(const Array& x, Ask&& ask);
  void find_components(const Array& x);
  template <class Write>
  void visit_quantiles(const Array& x, Write&& write);
  void output_law(Predictor<T>& member, const Array& x, const OutArray& mean, const OutArray& covariance);

  std::vector<std::unique_ptr<Predictor<T>>> members_;
  // Of several members: their answers, and what is made of them.
  std::array<Buffer<double>, 3> answers_, results_;
  std::vector<Tail> tails_;
  Components found_;               // of one member
  std::vector<Components> mixed_;  // of some examples' targets, in the caller's units
};

}  // namespace bdl
