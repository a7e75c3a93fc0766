#include "likelihood/likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "likelihood/special_functions.hpp"

namespace bdl {
namespace {

bool is_label(double value, double end) {
  return value >= 0 && value < end && value == std::floor(value);
}

}  // namespace

bool is_target(const Likelihood& likelihood, double value) {
  switch (likelihood.target_kind()) {
    case TargetKind::label:
      return likelihood.is_weighted() ? value >= 0 && value <= 1 : is_label(value, 2);
    case TargetKind::choice:
      return is_label(value, static_cast<double>(likelihood.outputs())) &&
             likelihood.has_class(static_cast<Index>(value));
    case TargetKind::level:
      return is_label(value, static_cast<double>(likelihood.levels()));
    case TargetKind::real:
      return std::isfinite(value);
    case TargetKind::positive:
      return value > 0 && std::isfinite(value);
    case TargetKind::count:
      break;
  }
  return is_label(value, HUGE_VAL);
}

const char* target_range(const Likelihood& likelihood) {
  switch (likelihood.target_kind()) {
    case TargetKind::label:
      return likelihood.is_weighted() ? "0, 1 or, of several trials, a number between" : "0 or 1";
    case TargetKind::choice:
      return likelihood.class_count() < likelihood.outputs()
                 ? "one of the classes that the model has been limited to"
                 : "a class number below the number of outputs";
    case TargetKind::level:
      return "a level 0, 1, ... below the number of levels (1 + the number of cut points)";
    case TargetKind::real:
      return "a finite number, or NaN if it is missing";
    case TargetKind::positive:
      return "a finite number above 0";
    case TargetKind::count:
      break;
  }
  return "a count 0, 1, 2, ...";
}

Likelihood::Likelihood(bdl_likelihood kind, Index outputs)
    : kind_(kind), outputs_(outputs), class_count_(kind == BDL_CATEGORICAL ? outputs : 0) {
  reset_shape(2);
}

void Likelihood::reset_shape(Index levels) {
  shape_origin_ = NoiseOrigin::none;
  shape_.clear();
  if (target_kind() == TargetKind::level)
    for (Index k = 1; k < levels; ++k)
      shape_.push_back(std::log(static_cast<double>(k) / static_cast<double>(levels - k)));
  else if (has_shape(kind_))
    shape_.push_back(1);
}

void Likelihood::set_levels(Index levels) {
  reset_shape(levels);
}

void Likelihood::set_shape(ConstSpan<double> values, NoiseOrigin origin) {
  shape_.assign(values.begin(), values.end());
  shape_origin_ = origin;
}

void Likelihood::learn_shape(ConstSpan<double> values) {
  set_shape(values, shape_origin_ == NoiseOrigin::none ? NoiseOrigin::training : shape_origin_);
}

std::vector<Index> Likelihood::classes() const {
  std::vector<Index> classes;
  for (Index c = 0; c < outputs_ && kind_ == BDL_CATEGORICAL; ++c)
    if (has_class(c)) classes.push_back(c);
  return classes;
}

void Likelihood::set_classes(ConstSpan<Index> classes) {
  std::vector<bool> has_class(static_cast<std::size_t>(outputs_));
  for (const Index c : classes) has_class[static_cast<std::size_t>(c)] = true;
  class_count_ = std::ranges::count(has_class, true);
  has_class_ = std::move(has_class);
  if (class_count_ == outputs_) has_class_.clear();
}

void Likelihood::set_all_classes() {
  if (!has_class_.empty()) class_count_ = outputs_;
  has_class_.clear();
}

void Likelihood::set_noise_precision(ConstSpan<double> values, NoiseOrigin origin) {
  noise_precision_.assign(values.begin(), values.end());
  noise_degrees_.clear();
  noise_origin_ = origin;
  noise_covariance_ = {};
}

void Likelihood::set_noise_covariance(NoiseCovariance covariance, NoiseOrigin origin) {
  std::vector<double> precision;
  for (Index c = 0; c < outputs_; ++c) precision.push_back(1 / covariance.covariance()(c, c));
  noise_precision_ = std::move(precision);
  noise_degrees_.clear();
  noise_origin_ = origin;
  noise_covariance_ = std::move(covariance);
}

double Likelihood::noise_variance(Index target) const {
  return noise_covariance_.given() ? noise_covariance_.covariance()(target, target)
                                   : 1 / noise_precision(target);
}

void Likelihood::learn_noise_precision(ConstSpan<double> values) {
  if (keeps_noise_covariance()) return;
  set_noise_precision(values, noise_is_set() ? noise_origin_ : NoiseOrigin::training);
}

void Likelihood::learn_noise_covariance(NoiseCovariance covariance) {
  if (keeps_noise_covariance()) return;
  set_noise_covariance(std::move(covariance), noise_is_set() ? noise_origin_ : NoiseOrigin::training);
}

void Likelihood::forget_learned_noise() {
  constexpr double one = 1;
  degrees_ = first_degrees_;
  if (kind_ == BDL_POISSON) limit_ = std::numeric_limits<double>::infinity();
  if (shape_origin_ == NoiseOrigin::training) reset_shape(levels());
  if (noise_origin_ == NoiseOrigin::training) set_noise_precision({&one, 1}, NoiseOrigin::none);
}

void Likelihood::check_weights(const Array& y, const char* name) const {
  for (Index i = 0; i < y.rows; ++i) check_weight(element(y, i, targets()), i, name);
}

void Likelihood::check_weight(double weight, Index row, const char* name) const {
  if (!(weight >= 0 && std::isfinite(weight)))
    fail(std::isfinite(weight) ? Status::ERROR_INVALID_ARGUMENT : Status::ERROR_NOT_FINITE,
         "the weight of row %lld (counting from 0), in the last column of %s, is %g: expected a finite "
         "number of "
         "at least 0",
         static_cast<long long>(row), name, weight);
}

void Likelihood::check_targets(const Array& y, Index rows, const char* name, bool may_miss) const {
  check_shape(y, rows, columns(), name);
  if (is_weighted_) check_weights(y, name);
  if (!may_miss) check_finite(y, name);
  const bool real = has_noise_precision();
  if (real && !may_miss) return;
  for (Index i = 0; i < y.rows; ++i)
    for (Index j = 0; j < targets(); ++j)
      if (const double value = element(y, i, j);
          real ? std::isinf(value) : !is_target(*this, value) && !(may_miss && std::isnan(value)))
        fail(real ? Status::ERROR_NOT_FINITE : Status::ERROR_LABEL,
             "%s is %g at row %lld, column %lld (counting from 0), expected %s", name, value,
             static_cast<long long>(i), static_cast<long long>(j), target_range(*this));
}

}  // namespace bdl
