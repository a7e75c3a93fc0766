// The ELBO of a one-output generalised linear model on a whole data set, exactly: what the methods exact-*
// maximise. In double, whatever the model is stored in.
#pragma once

#include "curvature/dense_rows.hpp"
#include "prior/prior.hpp"
#include "train/exact/exact_sums.hpp"

namespace bdl {

class ExactElbo {
 public:
  /// Copies what it needs of the model. Fails with ERROR_UNSUPPORTED for other ones.
  template <class T>
  ExactElbo(const Model<T>& model, Prior<double> prior, const RowShares& shares, Team& team);
  /// The data, which must outlive it, as the model does for its units.
  template <class T>
  void read_from(DataSet& data, const Model<T>& model) {
    sums_.read_from(data, model.standardization);
  }
  struct Value {
    double log_likelihood = 0, kl = 0;
    double loss() const { return kl - log_likelihood; }
    /// Changes of the loss below this are rounding.
    double rounding() const;
  };
  /// At q, for a natural-gradient step from it. The views below are of the last call. Fails with
  /// ERROR_DIVERGED where it is not finite.
  Value evaluate(const Posterior<double>& q) { return evaluate_step(q, ExampleLoss::exact); }
  /// True if there is a quadratic near the likelihood whose optimum does not depend on where a search begins.
  bool has_quadratic() const { return model_->likelihood.kind() == BDL_POISSON; }
  /// evaluate() with that quadratic in place of the likelihood.
  Value evaluate_quadratic(const Posterior<double>& q) { return evaluate_step(q, ExampleLoss::quadratic); }
  /// The same for derivatives by the parameters of a low-rank q, of which `y` are the columns that H is
  /// multiplied with.
  Value evaluate(const Posterior<double>& q, ConstMatrixView<double> y);
  /// Derivative of the loss with respect to mu: sum_i E[l'_i] x_i + Lambda_0 (mu - mu_0).
  ConstSpan<double> slope() { return sums_.slope(); }
  /// H = sum_i E[l''_i] x_i x_i^T for the step, so that the derivative with respect to Sigma is (H +
  /// Lambda_0 - Lambda) / 2. Low-rank posteriors take rows: those of the data, or a factor of the matrix that
  /// is H to 1e-10 of its diagonal. Once for each evaluation; fails with ERROR_DIVERGED where it has none.
  Curvature<double> curvature();
  /// out = (H + Lambda_0) x, after evaluate() of a posterior with full covariance; `h` is scratch, D x D.
  void multiply_target(ConstMatrixView<double> x, MatrixView<double> h, MatrixView<double> out);
  /// diag(H) and H y.
  ConstSpan<double> hessian_diagonal() { return sums_.diagonal(); }
  MatrixView<double> hessian_products() { return sums_.products(); }
  /// The noise precision of the greatest ELBO for the posterior of the last evaluation, whose value this is:
  /// N / E[sum of squared errors].
  double best_noise_precision(const Value& value) const;
  void set_noise_precision(double precision) { model_->likelihood.set_noise_precision({&precision, 1}); }
  /// With the noise of another one of its kind.
  void set_likelihood(const Likelihood& likelihood) { model_->likelihood = likelihood; }
  Prior<double>& prior() { return prior_; }
  /// Lambda_0's diagonal.
  ConstSpan<double> prior_precision() const { return prior_.precision(); }
  /// diag(sum_i b_i x_i x_i^T + Lambda_0) for about the most that E[l''_i] can be, until the next evaluation.
  ConstSpan<double> typical_precision() { return sums_.typical_precision(prior_precision(), team_); }
  Index dimension() const { return model_->parameters(); }

 private:
  static bool takes_rows(const Posterior<double>& q) { return !q.takes_matrix() && q.rank() > 0; }
  Value evaluate_step(const Posterior<double>& q, ExampleLoss loss);
  Value finish(const Posterior<double>& q);
  std::unique_ptr<Network<double>> model_;
  Prior<double> prior_;
  Team& team_;
  ExactSums sums_;
  HessianSum of_h_ = HessianSum::none;
  bool takes_rows_ = false;
  DenseRows<double> factor_;  // of a matrix, as rows
  Buffer<double> ones_;
  Scratch scratch_;
};

}  // namespace bdl
