// The exact ELBO of a generalised linear model on a whole data set, which the methods exact-*
// maximise. It is computed in double precision, whatever type the model is stored in.
#pragma once

#include "curvature/dense_rows.hpp"
#include "likelihood/expected_loss.hpp"
#include "likelihood/shape.hpp"
#include "prior/prior.hpp"
#include "train/exact/exact_sums.hpp"

namespace bdl {

class ExactElbo {
 public:
  /// Copies what it needs of the model. Fails with ERROR_UNSUPPORTED for models without exact expectations.
  template <class T>
  ExactElbo(const Model<T>& model, Prior<double> prior, const RowShares& shares, Team& team);
  /// Sets the data; they must outlive it, and so must the model, whose units they have.
  template <class T>
  void read_from(DataSet& data, const Model<T>& model) {
    sums_.read_from(data, model.standardization);
  }
  struct Value {
    double log_likelihood = 0, kl = 0;
    double loss() const { return kl - log_likelihood; }
    /// Returns the size of changes of the loss below which they are rounding.
    double rounding() const;
  };
  /// Evaluates the ELBO at q, for a natural-gradient step from q. The views below belong to the last call.
  /// Fails with ERROR_DIVERGED if the ELBO is not finite.
  Value evaluate(const Posterior<double>& q) { return evaluate_step(q, ExampleLoss::exact); }
  /// True if the likelihood has a quadratic near it whose optimum does not depend on where a search begins.
  bool has_quadratic() const { return has_quadratic_loss(model_->likelihood); }
  /// True if a low-rank posterior of this rank holds Lambda_0 + H, as the rows are no more than that.
  bool fits_rank(Index rank) const {
    return sums_.has_rows() && sums_.rows() <= rank && prior_.is_diagonal();
  }
  /// True if integrals have errors above rounding (likelihood/class_integrals.hpp).
  bool has_approximate_integrals() const { return model_->likelihood.kind() == BDL_CATEGORICAL; }
  /// Evaluates the ELBO at q with that quadratic in place of the likelihood.
  Value evaluate_quadratic(const Posterior<double>& q) { return evaluate_step(q, ExampleLoss::quadratic); }
  /// Evaluates for derivatives by the parameters of a low-rank q; H will be multiplied with the columns of
  /// `y`.
  Value evaluate(const Posterior<double>& q, ConstMatrixView<double> y);
  /// Returns the derivative of the loss by mu: sum_i E[l'_i] x_i + Lambda_0 (mu - mu_0).
  ConstSpan<double> slope() { return sums_.slope(); }
  /// Returns H = sum_i E[l''_i] x_i x_i^T for the step; the derivative by Sigma is (H + Lambda_0 - Lambda) /
  /// 2. Low-rank posteriors get rows: those of the data, or of a factor of H that is exact to 1e-10 of its
  /// diagonal. May be called only once per evaluation; fails with ERROR_DIVERGED if there is no factor.
  Curvature<double> curvature();
  /// Writes (H + Lambda_0) x after evaluate() of a posterior with full covariance; `h` is scratch memory, D
  /// x D.
  void multiply_target(ConstMatrixView<double> x, MatrixView<double> h, MatrixView<double> out);
  /// Return diag(H) and H y.
  ConstSpan<double> hessian_diagonal() { return sums_.diagonal(); }
  MatrixView<double> hessian_products() { return sums_.products(); }
  /// Writes the noise precisions that maximise the ELBO for the posterior of the last evaluation, which
  /// returned `value`: N / E[sum of squared errors], of all outputs together or of each; N is the sum of
  /// weights.
  void best_noise_precision(const Value& value, std::span<double> out) const;
  /// Writes the noise covariance that maximises the ELBO for that posterior: the mean of E[(y - f)(y - f)^T].
  void best_noise_covariance(MatrixView<double> out) const;
  /// Writes the sums of products of residuals to the lower triangle, for independent noises.
  void write_residual_products(MatrixView<double> out) const;
  /// Returns the number of targets that have this noise.
  double targets_of(Index noise) const { return sums_.targets_of(noise); }
  /// Returns the degrees of freedom of each noise for that posterior: its number of targets N less the
  /// effective number of parameters of its outputs, g = sum_i tau x_i^T Sigma x_i; at least 1. If the prior
  /// is learned, parameters that the data leave open have a scale that is known by g degrees, so it is the
  /// larger of N - g and g.
  std::vector<double> noise_degrees(bool learns_prior) const;
  void set_noise_precision(ConstSpan<double> precision) { model_->likelihood.set_noise_precision(precision); }
  /// Returns the sums by which the shape of the density is learned at q; evaluate() must follow.
  ConstSpan<double> shape_sums(const Posterior<double>& q) { return sums_.shape_sums(q, team_); }
  /// Returns the derivatives of the loss by the mean and the learned numbers of the shape, D x K.
  MatrixView<double> shape_couplings(const Posterior<double>& q) { return sums_.shape_couplings(q, team_); }
  /// Returns KL(q, prior).
  double kl(const Posterior<double>& q) { return prior_.kl(q, scratch_); }
  /// Replaces the noise by that of another likelihood of the same kind.
  void set_likelihood(const Likelihood& likelihood) { model_->likelihood = likelihood; }
  Prior<double>& prior() { return prior_; }
  /// Returns the diagonal of Lambda_0.
  ConstSpan<double> prior_precision() const { return prior_.precision(); }
  /// Returns the prior of the bias of a model with one output, at q's mean.
  InterceptPrior intercept_prior(const Posterior<double>& q);
  /// Returns diag(sum_i b_i x_i x_i^T) + diag(Lambda_0) with b_i about the largest possible E[l''_i]; valid
  /// until the next evaluation.
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
  DenseRows<double> factor_;  // rows r with H = sum r r^T: the columns of its Cholesky factor
  Buffer<double> ones_;
  Scratch scratch_;
};

}  // namespace bdl
