// Likelihoods p(y | f), as in docs/theory/likelihoods.md: densities, the seeds from which
// back-propagation makes gradient and curvature rows, and the Hessian at the outputs.
//
// A likelihood is one file in kinds/, a struct of formulas, and one row of the table likelihoods.def.
// formulas.hpp finds the struct of a likelihood; likelihood.cpp has the settings (classes, noise, shape,
// limits) and checks targets. kinds/independent_outputs.hpp is the page that all share whose targets are
// independent. Expectations over Gaussian outputs: expected_loss.hpp (loss and derivatives),
// linearized_density.hpp (predictive densities), limited_rates.hpp (counts), by the rules of
// gaussian_integrals.hpp; shape.hpp learns dispersions and cut points.
#pragma once

#include <iterator>
#include <limits>
#include <vector>

#include "base/array.hpp"
#include "bdl/model.h"
#include "likelihood/noise_covariance.hpp"

namespace bdl {

/// Source of the noise precision: none yet, training, the caller, or the targets before training, whose value
/// is a start that stays when training begins anew.
enum class NoiseOrigin { none = 0, training = 1, caller = 2, targets = 3 };

/// What a target is: a real number with noise, a label 0 or 1, a class number, the number of an ordered
/// level, a count, or a positive number.
enum class TargetKind { real, label, choice, level, count, positive };

/// How expectations over a Gaussian output are computed: not at all in one dimension; by closed forms or
/// rules of the likelihood's own; or by formulas in expected_loss(), and nodes that output_nodes.hpp places.
enum class OutputIntegrals { none, own, nodes };

/// A row of the table likelihoods.def.
struct LikelihoodRow {
  bdl_likelihood kind;
  const char* word;
  TargetKind targets;
  OutputIntegrals integrals;
};

inline constexpr LikelihoodRow likelihood_rows[] = {
#define BDL_LIKELIHOOD(name, formulas, word, targets, integrals) \
  {BDL_##name, word, TargetKind::targets, OutputIntegrals::integrals},
#include "likelihood/likelihoods.def"
#undef BDL_LIKELIHOOD
};
inline constexpr bdl_likelihood last_likelihood = likelihood_rows[std::size(likelihood_rows) - 1].kind;

constexpr const LikelihoodRow& row_of(bdl_likelihood kind) {
  return likelihood_rows[kind - BDL_GAUSSIAN];
}
/// True if y is one of several classes.
constexpr bool has_classes(bdl_likelihood kind) {
  const TargetKind targets = row_of(kind).targets;
  return targets == TargetKind::label || targets == TargetKind::choice || targets == TargetKind::level;
}
/// True if the density has numbers that are the same for every row, and learned (Likelihood::shape()).
constexpr bool has_shape(bdl_likelihood kind) {
  return kind == BDL_NEGATIVE_BINOMIAL || kind == BDL_GAMMA || kind == BDL_ORDINAL;
}
constexpr bool has_noise_precision(bdl_likelihood kind) {
  return row_of(kind).targets == TargetKind::real;
}

/// Largest number of levels of an ordinal y.
inline constexpr Index most_levels = 1000;

class Likelihood {
 public:
  Likelihood(bdl_likelihood kind, Index outputs);

  bdl_likelihood kind() const { return kind_; }
  TargetKind target_kind() const { return row_of(kind_).targets; }
  Index outputs() const { return outputs_; }
  /// Number of targets: the columns of y but for the weight.
  Index targets() const { return has_one_label() ? 1 : means(); }
  /// Number of outputs that are means, log means or logits: all but log noise precisions.
  Index means() const { return kind_ == BDL_HETEROSCEDASTIC ? outputs_ / 2 : outputs_; }
  /// Number of elements of E[y], which moments() writes: one for each class or level if y is one of them.
  Index moment_count() const { return target_kind() == TargetKind::level ? levels() : means(); }
  /// True if the last column of y is the weight of the row: the row counts so many times, and a label is the
  /// share of successes in so many trials.
  bool is_weighted() const { return is_weighted_; }
  void set_weighted(bool weighted) { is_weighted_ = weighted; }
  bool has_trials() const { return is_weighted_ && target_kind() == TargetKind::label; }
  /// Number of columns of y.
  Index columns() const { return targets() + (is_weighted_ ? 1 : 0); }
  /// Returns the weight of a row of y.
  template <class T>
  double weight(const T* y) const {
    return is_weighted_ ? static_cast<double>(y[targets()]) : 1;
  }
  /// Returns what log_density() says of a row with its weight: of trials, the density of the number of
  /// successes.
  template <class T>
  double weighted_log_density(const T* f, const T* y) const {
    if (!is_weighted_) return log_density(f, y);
    return weight(y) > 0 ? weight(y) * log_density(f, y) + log_orders(y) : 0;
  }
  /// Returns the log of the number of orders in which a row's trials can succeed as often; 0 without trials.
  template <class T>
  double log_orders(const T* y) const;
  /// True if y is real, with Gaussian or Student-t noise.
  bool has_noise_precision() const { return bdl::has_noise_precision(kind_); }
  bool has_classes() const { return bdl::has_classes(kind_); }
  /// True if y is one column of numbers of classes or levels.
  bool has_one_label() const {
    return target_kind() == TargetKind::choice || target_kind() == TargetKind::level;
  }
  /// True if expectations over one Gaussian output are known (expected_loss.hpp).
  bool is_exact() const { return row_of(kind_).integrals != OutputIntegrals::none; }
  /// True if predictions from a Gaussian output are integrals over nodes (output_nodes.hpp).
  bool integrates_by_nodes() const { return row_of(kind_).integrals == OutputIntegrals::nodes; }

  /// Numbers of the density that training may learn, the same for every row: the shape of a negative binomial
  /// or Gamma y, or the ascending cut points of an ordinal one; else none.
  ConstSpan<double> shape() const { return shape_; }
  double shape(Index k) const { return shape_[static_cast<std::size_t>(k)]; }
  NoiseOrigin shape_origin() const { return shape_origin_; }
  void set_shape(ConstSpan<double> values, NoiseOrigin origin = NoiseOrigin::caller);
  /// Sets what training has learned; the origin stays the caller.
  void learn_shape(ConstSpan<double> values);
  /// Number of levels of an ordinal y.
  Index levels() const { return static_cast<Index>(shape_.size()) + 1; }
  /// Sets cut points of levels of equal probability for f = 0.
  void set_levels(Index levels);

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
  /// Set what training has learned. The origin stays the caller or the targets; a covariance that the caller
  /// has set is not changed.
  void learn_noise_precision(ConstSpan<double> values);
  void learn_noise_covariance(NoiseCovariance covariance);
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
  /// Resets learned noise and shape to those of a new likelihood, and removes the limit of counts.
  void forget_learned_noise();
  /// Sets Gaussian noise with a full covariance, until set_noise_precision() replaces it. noise_precision()
  /// is then 1 / R_cc, the precision of each output's marginal.
  void set_noise_covariance(NoiseCovariance covariance, NoiseOrigin origin = NoiseOrigin::caller);
  const NoiseCovariance& noise_covariance() const { return noise_covariance_; }
  /// True if the caller has set a covariance, which training keeps.
  bool keeps_noise_covariance() const {
    return noise_covariance_.given() && noise_origin_ == NoiseOrigin::caller;
  }
  /// True if training may learn the noise.
  bool learns_gaussian_noise() const { return kind_ == BDL_GAUSSIAN && !keeps_noise_covariance(); }
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

  /// Fails with ERROR_SHAPE, ERROR_NOT_FINITE, ERROR_LABEL or ERROR_INVALID_ARGUMENT (naming the row) unless
  /// y and its weights fit; a missing target is NaN. The functions below ignore missing targets if targets
  /// are independent given f.
  void check_targets(const Array& y, Index rows, const char* name, bool may_miss = false) const;
  /// Fails unless it is a weight.
  void check_weight(double weight, Index row, const char* name) const;

  /// Returns log p(y | f) with all constants.
  template <class T>
  double log_density(const T* f, const T* y) const;

  /// Returns sup over f of log p(y | f), less log_density(f, y): how much better the best outputs would
  /// explain y. Never negative.
  template <class T>
  double misfit(const T* f, const T* y) const;

  /// Writes the mean of y given f (the probabilities if it is a class or level) and its variance.
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
  /// categorical, or R^-1 whatever h is; see also heteroscedastic.hpp. y is read only where H depends on it:
  /// not if Gaussian, Bernoulli, categorical, or Poisson below the limit.
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
  /// Returns E_y[-d^2 log p / df_c^2], for the mean or logit f_c.
  double information(const double* f, Index c) const;
  /// Returns an upper bound of -d^2 log p in any direction of f, infinity if there is none.
  double curvature_bound() const;

 private:
  void check_weights(const Array& y, const char* name) const;

  bdl_likelihood kind_;
  Index outputs_;
  std::vector<double> noise_precision_{1.0};
  std::vector<double> noise_degrees_;  // empty if all are infinite
  NoiseOrigin noise_origin_ = NoiseOrigin::none;
  bool is_weighted_ = false, log_precision_is_free_ = true, holds_without_curvature_ = false;
  double first_degrees_ = 4, degrees_ = 4;
  double limit_ = std::numeric_limits<double>::infinity();
  NoiseCovariance noise_covariance_;
  std::vector<bool> has_class_;  // empty if all classes are possible
  Index class_count_;
  std::vector<double> shape_;
  NoiseOrigin shape_origin_ = NoiseOrigin::none;

  void reset_shape(Index levels);
};

/// True if the value is finite and, unless y is real, a label.
bool is_target(const Likelihood& likelihood, double value);

/// Describes the valid targets, for messages.
const char* target_range(const Likelihood& likelihood);

}  // namespace bdl
