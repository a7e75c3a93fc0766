// Likelihoods p(y | f), as in docs/theory/likelihoods.md: densities, the seeds from which
// back-propagation makes gradient and curvature rows, and the Hessian at the outputs.
//
// likelihood.cpp has the settings (classes, noise, limits) and checks targets, likelihood_formulas.cpp the
// formulas. Two likelihoods have files of their own: heteroscedastic.hpp and student_t.hpp. Expectations over
// Gaussian outputs: expected_loss.hpp (loss and derivatives), linearized_density.hpp (predictive densities),
// limited_rates.hpp (counts), by the rules of gaussian_integrals.hpp.
#pragma once

#include <limits>
#include <vector>

#include "base/array.hpp"
#include "bdl/model.h"
#include "likelihood/noise_covariance.hpp"

namespace bdl {

/// Source of the noise precision: none yet, training, the caller, or the targets before training, whose value
/// is a start that stays when training begins anew.
enum class NoiseOrigin { none = 0, training = 1, caller = 2, targets = 3 };

class Likelihood {
 public:
  Likelihood(bdl_likelihood kind, Index outputs);

  bdl_likelihood kind() const { return kind_; }
  Index outputs() const { return outputs_; }
  /// Number of columns of y.
  Index targets() const { return kind_ == BDL_CATEGORICAL ? 1 : means(); }
  /// Number of elements of E[y].
  Index means() const { return kind_ == BDL_HETEROSCEDASTIC ? outputs_ / 2 : outputs_; }
  /// True if y is real, with Gaussian or Student-t noise.
  bool has_noise_precision() const {
    return kind_ == BDL_GAUSSIAN || kind_ == BDL_HETEROSCEDASTIC || kind_ == BDL_STUDENT_T;
  }

  /// Degrees of freedom of Student-t noise now, and at the start of training.
  double degrees_of_freedom() const { return degrees_; }
  double first_degrees_of_freedom() const { return first_degrees_; }
  void set_degrees_of_freedom(double degrees) { first_degrees_ = degrees_ = degrees; }
  void learn_degrees_of_freedom(double degrees) { degrees_ = degrees; }

  /// False if the log noise precisions of a heteroscedastic model count as 0.
  bool log_precision_is_free() const { return log_precision_is_free_; }
  void free_log_precision(bool free) { log_precision_is_free_ = free; }
  /// Returns the number of outputs that have curvature; log noise precisions that are held may have none.
  Index curved_outputs() const {
    return holds_without_curvature_ && !log_precision_is_free_ ? means() : outputs();
  }
  void hold_without_curvature(bool without) { holds_without_curvature_ = without; }

  /// Log of the rate (Poisson) or noise variance (heteroscedastic) above which outputs are bent
  /// (limited_rates.hpp); infinity if there is no limit.
  double limit() const { return limit_; }
  void set_limit(double limit) { limit_ = limit; }

  /// Returns the possible classes of a categorical y, ascending; others have probability 0. All are possible
  /// by default.
  std::vector<Index> classes() const;
  Index class_count() const { return class_count_; }
  /// Sets two or more possible classes, in any order.
  void set_classes(ConstSpan<Index> classes);
  void set_all_classes();
  bool has_class(Index c) const { return has_class_.empty() || has_class_[static_cast<std::size_t>(c)]; }
  /// Returns the most likely class.
  template <class T>
  Index top_class(const T* f) const;

  /// Returns the Gaussian noise precision: one value, or one per target.
  ConstSpan<double> noise_precision() const { return noise_precision_; }
  void set_noise_precision(ConstSpan<double> values, NoiseOrigin origin = NoiseOrigin::caller);
  /// Sets the precision that training has learned. Its origin stays the caller or the targets; a full
  /// covariance is not changed.
  void learn_noise_precision(ConstSpan<double> values);
  /// Returns the degrees of freedom of the estimate of Gaussian noise: infinity if the noise is known, or if
  /// nobody has counted them. With them, y - f has Student's t distribution, scaled
  /// (docs/theory/likelihoods.md, "Noise that is estimated").
  double noise_degrees(Index target) const {
    if (noise_degrees_.empty()) return std::numeric_limits<double>::infinity();
    return noise_degrees_[noise_degrees_.size() == 1 ? 0 : static_cast<std::size_t>(target)];
  }
  ConstSpan<double> noise_degrees() const { return noise_degrees_; }
  /// Sets them, one for each noise precision or none, until the noise changes.
  void set_noise_degrees(std::vector<double> degrees) { noise_degrees_ = std::move(degrees); }
  /// Resets learned noise to 1 with no origin, and removes the limit of counts.
  void forget_learned_noise();
  /// Sets Gaussian noise with a full covariance, until set_noise_precision() replaces it. noise_precision()
  /// is then 1 / R_cc, the precision of each output's marginal.
  void set_noise_covariance(NoiseCovariance covariance);
  const NoiseCovariance& noise_covariance() const { return noise_covariance_; }
  double noise_variance(Index target) const;
  NoiseOrigin noise_origin() const { return noise_origin_; }
  /// False if training may choose the initial noise.
  bool noise_is_set() const { return noise_origin_ != NoiseOrigin::none; }
  double noise_precision(Index target) const {
    return noise_precision_[noise_precision_.size() == 1 ? 0 : static_cast<std::size_t>(target)];
  }
  /// Returns r^2, times e^h if heteroscedastic, or times student_t::weight() for Student-t noise. Its mean is
  /// 1 / noise_precision(target) if that precision fits.
  template <class T>
  double squared_error(const T* f, const T* y, Index target) const;

  /// Fails with ERROR_SHAPE, ERROR_NOT_FINITE or ERROR_LABEL (naming the row) unless y fits; a missing target
  /// is NaN. The functions below ignore missing targets if targets are independent given f.
  void check_targets(const Array& y, Index rows, const char* name, bool may_miss = false) const;

  /// Returns log p(y | f) with all constants.
  template <class T>
  double log_density(const T* f, const T* y) const;

  /// Returns sup over f of log p(y | f), less log_density(f, y): how much better the best outputs would
  /// explain y. Never negative.
  template <class T>
  double misfit(const T* f, const T* y) const;

  /// Writes the mean of y given f (the class probabilities if categorical) and its variance.
  template <class T>
  void moments(const T* f, double* mean, double* variance) const;

  /// Writes the gradient of -log p(y | f) with respect to f.
  template <class T>
  void gradient(const T* f, const T* y, T* seed) const;

  /// Writes column k < C of a root A of the expected Hessian, A A^T = E_y[-d^2 log p / df^2] (more for
  /// outliers of a heteroscedastic Gaussian), and the coefficient z_k with A z = gradient: the gradient is a
  /// combination of curvature rows.
  template <class T>
  void hessian_root(const T* f, const T* y, Index k, T* seed, double* coefficient) const;

  /// Writes C values h that determine the Hessian H = -d^2 log p / df^2: H is diag(h), diag(h) - h h^T if
  /// categorical, or R^-1 whatever h is; see also heteroscedastic.hpp. y is read only if heteroscedastic,
  /// Student-t or beyond the limit.
  template <class T>
  void hessian_terms(const T* f, const T* y, double* h) const;
  /// False if H is diagonal.
  bool has_coupled_outputs() const {
    return kind_ == BDL_CATEGORICAL || kind_ == BDL_HETEROSCEDASTIC || noise_covariance_.given();
  }
  double hessian_entry(const double* h, Index c, Index k) const;
  /// Computes out = H v; out must not be v.
  template <class T>
  void hessian_product(const double* h, const T* v, T* out) const;

 private:
  bdl_likelihood kind_;
  Index outputs_;
  std::vector<double> noise_precision_{1.0};
  std::vector<double> noise_degrees_;  // empty if all are infinite
  NoiseOrigin noise_origin_ = NoiseOrigin::none;
  bool log_precision_is_free_ = true, holds_without_curvature_ = false;
  double first_degrees_ = 4, degrees_ = 4;
  double limit_ = std::numeric_limits<double>::infinity();
  NoiseCovariance noise_covariance_;
  std::vector<bool> has_class_;  // empty if all classes are possible
  Index class_count_;

  /// Returns log sum_k e^f_k over the possible classes; 0 unless y is categorical.
  template <class T>
  double normaliser(const T* f) const;
  /// Returns e^(f_c - normaliser), or 0 for impossible classes.
  template <class T>
  double class_probability(const T* f, Index c, double normaliser) const;
};

/// True if the value is finite and, unless y is real, a label.
bool is_target(const Likelihood& likelihood, double value);

/// Describes the valid targets, for messages.
const char* target_range(const Likelihood& likelihood);

}  // namespace bdl
