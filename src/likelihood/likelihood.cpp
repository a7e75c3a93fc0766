#include "likelihood/likelihood.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {
namespace {

bool is_label(double value, double end) {
  return value >= 0 && value < end && value == std::floor(value);
}

}  // namespace

bool is_target(const Likelihood& likelihood, double value) {
  switch (likelihood.kind()) {
    case BDL_BERNOULLI:
      return is_label(value, 2);
    case BDL_CATEGORICAL:
      return is_label(value, static_cast<double>(likelihood.outputs())) &&
             likelihood.has_class(static_cast<Index>(value));
    case BDL_GAUSSIAN:
    case BDL_HETEROSCEDASTIC:
    case BDL_STUDENT_T:
      return std::isfinite(value);
    default:
      return is_label(value, HUGE_VAL);
  }
}

const char* target_range(const Likelihood& likelihood) {
  switch (likelihood.kind()) {
    case BDL_BERNOULLI:
      return "0 or 1";
    case BDL_CATEGORICAL:
      return likelihood.class_count() < likelihood.outputs()
                 ? "one of the classes that the model has been limited to"
                 : "a class number below the number of outputs";
    case BDL_GAUSSIAN:
    case BDL_HETEROSCEDASTIC:
    case BDL_STUDENT_T:
      return "a finite number, or NaN if it is missing";
    default:
      return "a count 0, 1, 2, ...";
  }
}

Likelihood::Likelihood(bdl_likelihood kind, Index outputs)
    : kind_(kind), outputs_(outputs), class_count_(kind == BDL_CATEGORICAL ? outputs : 0) {}

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

void Likelihood::set_noise_covariance(NoiseCovariance covariance) {
  std::vector<double> precision;
  for (Index c = 0; c < outputs_; ++c) precision.push_back(1 / covariance.covariance()(c, c));
  noise_precision_ = std::move(precision);
  noise_degrees_.clear();
  noise_origin_ = NoiseOrigin::caller;
  noise_covariance_ = std::move(covariance);
}

double Likelihood::noise_variance(Index target) const {
  return noise_covariance_.given() ? noise_covariance_.covariance()(target, target)
                                   : 1 / noise_precision(target);
}

void Likelihood::learn_noise_precision(ConstSpan<double> values) {
  if (noise_covariance_.given()) return;
  set_noise_precision(values, noise_is_set() ? noise_origin_ : NoiseOrigin::training);
}

void Likelihood::forget_learned_noise() {
  constexpr double one = 1;
  degrees_ = first_degrees_;
  if (kind_ == BDL_POISSON) limit_ = std::numeric_limits<double>::infinity();
  if (noise_origin_ == NoiseOrigin::training) set_noise_precision({&one, 1}, NoiseOrigin::none);
}

void Likelihood::check_targets(const Array& y, Index rows, const char* name, bool may_miss) const {
  check_shape(y, rows, targets(), name);
  if (!may_miss) check_finite(y, name);
  const bool real = has_noise_precision();
  if (real && !may_miss) return;
  for (Index i = 0; i < y.rows; ++i)
    for (Index j = 0; j < y.cols; ++j)
      if (const double value = element(y, i, j);
          real ? std::isinf(value) : !is_target(*this, value) && !(may_miss && std::isnan(value)))
        fail(real ? Status::ERROR_NOT_FINITE : Status::ERROR_LABEL,
             "%s is %g at row %lld, column %lld (counting from 0), expected %s", name, value,
             static_cast<long long>(i), static_cast<long long>(j), target_range(*this));
}

}  // namespace bdl
