// The ELBO of a one-output generalised linear model on a whole data set, exactly: what the methods exact-*
// maximise. In double, whatever the model is stored in.
#pragma once

#include <optional>

#include "base/array.hpp"
#include "data/data_set.hpp"
#include "inference/exact/exact_estimator.hpp"
#include "model/network.hpp"
#include "prior/prior.hpp"

namespace bdl {

class ExactElbo {
 public:
  /// Copies what it needs. Fails with ERROR_UNSUPPORTED for other models.
  template <class T>
  ExactElbo(const Model<T>& model, Prior<double> prior, DataSet& data);

  struct Value {
    double log_likelihood = 0, kl = 0;
    double loss() const { return kl - log_likelihood; }
    /// Changes of the loss below this are rounding.
    double rounding() const;
  };
  /// At q. The views below are of the last call. Fails with ERROR_DIVERGED where it is not finite.
  Value evaluate(const Posterior<double>& q);
  /// Derivative of the loss with respect to mu: sum_i E[l'_i] x_i + Lambda_0 (mu - mu_0).
  ConstSpan<double> slope() const { return slope_.first(dimension()); }
  /// H = sum_i E[l''_i] x_i x_i^T, so that the derivative with respect to Sigma is (H + Lambda_0 - Lambda)
  /// / 2.
  Curvature<double> curvature() const { return {estimate_.rows, estimate_.w, {}, {}}; }
  /// The noise precision of the greatest ELBO for the belief of the last evaluation, whose value this is:
  /// N / E[sum of squared errors].
  double best_noise_precision(const Value& value) const;
  void set_noise_precision(double precision) { model_->likelihood.set_noise_precision({&precision, 1}); }
  Prior<double>& prior() { return prior_; }
  /// Lambda_0's diagonal.
  ConstSpan<double> prior_precision() const { return prior_.precision(); }
  /// diag(sum_i b_i x_i x_i^T + Lambda_0) for about the most that E[l''_i] can be: 1/4, the noise precision,
  /// or the count. The same whatever q.
  std::vector<double> typical_precision() const;
  Index dimension() const { return model_->parameters(); }
  Index examples() const { return examples_; }
  /// Of one for so many examples, and posteriors like q, whose steps make this use of the rows; but for the
  /// prior's.
  template <class T>
  static Index bytes(const Model<T>& model, const Posterior<double>& q, Index examples, const RowsUse& use);

 private:
  template <class T>
  ExactElbo(const Model<T>& model, Index examples);
  void reserve_data();
  void reserve(const Posterior<double>& q, const RowsUse& use);
  std::unique_ptr<Network<double>> model_;
  Index examples_;
  Prior<double> prior_;
  Buffer<double> x_, y_, slope_;
  std::optional<ExactEstimator<double>> estimator_;
  Estimate<double> estimate_;
  PosteriorScratch<double> scratch_;
};

}  // namespace bdl
