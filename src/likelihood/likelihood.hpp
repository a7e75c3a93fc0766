// p(y | f) for the likelihoods of docs/mathematics/likelihoods.md: densities, the seeds that back-propagation
// turns into gradient and curvature rows, and the Hessian at the outputs.
#pragma once

#include <limits>
#include <vector>

#include "base/array.hpp"
#include "bdl/model.h"
#include "likelihood/noise_covariance.hpp"

namespace bdl {

/// Where the noise precision comes from: nobody yet, an optimizer, or the caller.
enum class NoiseOrigin { none = 0, training = 1, caller = 2 };

class Likelihood {
 public:
  Likelihood(bdl_likelihood kind, Index outputs);

  bdl_likelihood kind() const { return kind_; }
  Index outputs() const { return outputs_; }
  /// Columns of y.
  Index targets() const { return kind_ == BDL_CATEGORICAL ? 1 : means(); }
  /// Elements of E[y].
  Index means() const { return kind_ == BDL_HETEROSCEDASTIC ? outputs_ / 2 : outputs_; }
  /// y is real, with Gaussian or Student-t noise.
  bool has_noise_precision() const {
    return kind_ == BDL_GAUSSIAN || kind_ == BDL_HETEROSCEDASTIC || kind_ == BDL_STUDENT_T;
  }

  /// Of Student-t noise: where training starts, and as it moves them.
  double degrees_of_freedom() const { return degrees_; }
  double first_degrees_of_freedom() const { return first_degrees_; }
  void set_degrees_of_freedom(double degrees) { first_degrees_ = degrees_ = degrees; }
  void learn_degrees_of_freedom(double degrees) { degrees_ = degrees; }

  /// False: the log noise precisions of a heteroscedastic model count as 0.
  bool log_precision_is_free() const { return log_precision_is_free_; }
  void free_log_precision(bool free) { log_precision_is_free_ = free; }

  /// Log of the rate (Poisson) or noise variance (heteroscedastic) above which outputs are bent
  /// (likelihood/limited.hpp); infinity: no limit.
  double limit() const { return limit_; }
  void set_limit(double limit) { limit_ = limit; }

  /// Of a categorical y: the classes that it is among, ascending; the others have probability 0. All, unless
  /// they were set.
  std::vector<Index> classes() const;
  Index class_count() const { return class_count_; }
  /// Two or more, in any order, of the outputs.
  void set_classes(ConstSpan<Index> classes);
  void set_all_classes();
  bool has_class(Index c) const { return has_class_.empty() || has_class_[static_cast<std::size_t>(c)]; }
  /// The most likely one.
  template <class T>
  Index top_class(const T* f) const;

  /// Gaussian noise precision: one value, or one per target.
  ConstSpan<double> noise_precision() const { return noise_precision_; }
  void set_noise_precision(ConstSpan<double> values, NoiseOrigin origin = NoiseOrigin::caller);
  /// As training moves it: what the caller has set stays the caller's, and a covariance stays as it is.
  void learn_noise_precision(ConstSpan<double> values);
  /// Back to 1 and none, unless the caller has set it; counts have no limit any more.
  void forget_learned_noise();
  /// Gaussian noise with a full covariance, the caller's until set_noise_precision() ends it.
  /// noise_precision() is 1 / R_cc meanwhile, that of each output's marginal.
  void set_noise_covariance(NoiseCovariance covariance);
  const NoiseCovariance& noise_covariance() const { return noise_covariance_; }
  double noise_variance(Index target) const;
  NoiseOrigin noise_origin() const { return noise_origin_; }
  /// False: training may choose the start.
  bool noise_is_set() const { return noise_origin_ != NoiseOrigin::none; }
  double noise_precision(Index target) const {
    return noise_precision_[noise_precision_.size() == 1 ? 0 : static_cast<std::size_t>(target)];
  }
  /// r^2, times e^h if heteroscedastic and times student_t::weight() for Student-t noise: its mean is 1 /
  /// noise_precision(target) where that fits.
  template <class T>
  double squared_error(const T* f, const T* y, Index target) const;

  /// Fails with ERROR_SHAPE, ERROR_NOT_FINITE or ERROR_LABEL (naming the row) unless y fits; a missing target
  /// is NaN. The functions below take a missing target of outputs that are independent given f as not there.
  void check_targets(const Array& y, Index rows, const char* name, bool may_miss = false) const;

  /// log p(y | f), constants included.
  template <class T>
  double log_density(const T* f, const T* y) const;

  /// By how much the best outputs would explain y better: sup over f of log p(y | f), less log_density(f, y);
  /// never negative.
  template <class T>
  double misfit(const T* f, const T* y) const;

  /// Mean of y (means(); the class probabilities if categorical) and its variance given f.
  template <class T>
  void moments(const T* f, double* mean, double* variance) const;

  /// Gradient of -log p(y | f) with respect to f.
  template <class T>
  void gradient(const T* f, const T* y, T* seed) const;

  /// Column k < C of a square root A of the expected Hessian, A A^T = E_y[-d^2 log p / df^2] (more for the
  /// outliers of a heteroscedastic Gaussian), and the
  /// coefficient z_k with A z = gradient: the gradient is a combination of the curvature rows.
  template <class T>
  void hessian_root(const T* f, const T* y, Index k, T* seed, double* coefficient) const;

  /// What the Hessian H = -d^2 log p / df^2 takes from f (and y, if heteroscedastic, Student-t or beyond the
  /// limit; else it is not read): C values h with H = diag(h), diag(h) - h h^T if categorical, or R^-1
  /// whatever h is; see heteroscedastic.hpp.
  template <class T>
  void hessian_terms(const T* f, const T* y, double* h) const;
  /// False: H is diagonal.
  bool has_coupled_outputs() const {
    return kind_ == BDL_CATEGORICAL || kind_ == BDL_HETEROSCEDASTIC || noise_covariance_.given();
  }
  double hessian_entry(const double* h, Index c, Index k) const;
  /// out = H v; not in place.
  template <class T>
  void hessian_product(const double* h, const T* v, T* out) const;

 private:
  bdl_likelihood kind_;
  Index outputs_;
  std::vector<double> noise_precision_{1.0};
  NoiseOrigin noise_origin_ = NoiseOrigin::none;
  bool log_precision_is_free_ = true;
  double first_degrees_ = 4, degrees_ = 4;
  double limit_ = std::numeric_limits<double>::infinity();
  NoiseCovariance noise_covariance_;
  std::vector<bool> has_class_;  // empty: all
  Index class_count_;

  /// log sum_k e^f_k over the classes of y; 0 unless it is categorical.
  template <class T>
  double normaliser(const T* f) const;
  /// e^(f_c - normaliser), 0 of other classes.
  template <class T>
  double class_probability(const T* f, Index c, double normaliser) const;
};

}  // namespace bdl
