#include "train/scales/target_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "curvature/seeds.hpp"

namespace bdl {
namespace {

constexpr Index chunk = 256;            // examples of a forward pass
constexpr double fewest_values = 1e-8;  // that are left beside those determined
// Noise precisions over that of a constant, which training finds at most and at least.
constexpr double most_precise = 1e10, most_precise_by_x = 1e6, least_precise = 1, least_precise_by_x = 1e-2;

}  // namespace

/// Returns the variance of the values about their mean; of equal values, their square.
template <class T>
double TargetNoise<T>::Sums::variance() const {
  const double mean = values > 0 ? sum / values : 0, square = values > 0 ? squares / values : 0;
  const double about_mean = square - mean * mean;
  if (about_mean > 1e-12 * square) return about_mean;
  return square > 0 ? square : 1;
}

template <class T>
TargetNoise<T>::TargetNoise(const Optimizer<T>& optimizer, const EvidenceSample<T>& sample)
    : optimizer_(optimizer),
      sample_(sample),
      likelihood_(optimizer.model()->likelihood),
      targets_(static_cast<std::size_t>(optimizer.context().has_noise() ? likelihood_.targets() : 0)),
      factors_(targets_.size()),
      errors_(targets_.size()),
      precisions_(likelihood_.noise_precision().size()),
      nothing_(targets_.size()),
      outputs_(optimizer.model()->outputs() * std::min(chunk, sample.rows())) {
  compute();
}

template <class T>
void TargetNoise<T>::compute() {
  const Model<T>& model = *optimizer_.model();
  const Posterior<T>& q = *optimizer_.posterior();
  const double weight = static_cast<double>(sample_.data_rows()) / static_cast<double>(sample_.rows());
  std::ranges::fill(targets_, Sums{});
  std::ranges::fill(factors_, 1.0);
  log_likelihood_ = 0;
  for (Index first = 0; first < sample_.rows(); first += chunk) {
    const Index count = std::min(chunk, sample_.rows() - first);
    const auto f = outputs_.matrix(model.outputs(), count);
    const auto y = sample_.y().columns(first, count);
    model.forward(q.mean(), sample_.x().columns(first, count), f, scratch_, q.statistics());
    check_outputs_finite<T>(f);
    log_likelihood_ += weight * expected_log_likelihood<T>(likelihood_, f, y);
    if (targets_.empty()) continue;
    sum_squared_errors<T>(likelihood_, f, y, errors_);
    add(sample_.x().columns(first, count), y, weight);
  }
}

template <class T>
void TargetNoise<T>::add(ConstMatrixView<T> x, ConstMatrixView<T> y, double weight) {
  const Index features = optimizer_.model()->features();
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    Sums& to = targets_[c];
    to.errors += weight * errors_[c];
    for (Index i = 0; i < y.cols; ++i) {
      auto value = static_cast<double>(y(static_cast<Index>(c), i));
      if (std::isnan(value)) continue;
      if (x.rows > features) value -= static_cast<double>(x(features + static_cast<Index>(c), i));
      const double times = weight * likelihood_.weight(y.column_data(i));
      to.values += times;
      to.sum += times * value;
      to.squares += times * value * value;
    }
  }
}

template <class T>
auto TargetNoise<T>::totals_of(std::size_t precision, ConstSpan<double> determined) const -> Totals {
  Totals all;
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    if (!is_shared() && c != precision) continue;
    all.values += targets_[c].values;
    all.errors += targets_[c].errors;
    all.about_mean += targets_[c].values * targets_[c].variance();
    all.determined += determined[c];
  }
  return all;
}

/// Standardised targets with Student-t noise have a robust scale of 1, whatever outliers make of their
/// variance.
template <class T>
double TargetNoise<T>::without_outliers(double constant) const {
  return likelihood_.kind() == BDL_STUDENT_T ? std::max(constant, 1.0) : constant;
}

template <class T>
void TargetNoise<T>::move(ConstSpan<double> determined, bool depends_on_x) {
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    const Totals of = totals_of(c, determined);
    if (of.values == 0) continue;
    const double constant = of.values / of.about_mean,
                 least = (depends_on_x ? least_precise_by_x : least_precise) * constant,
                 most =
                     depends_on_x ? most_precise_by_x * constant : most_precise * without_outliers(constant),
                 wanted = std::max(of.values - of.determined, fewest_values) / std::max(of.errors, 1e-300);
    factors_[c] = std::clamp(wanted, least, most) / present(c);
  }
}

template <class T>
void TargetNoise<T>::suppose(double times) {
  for (std::size_t c = 0; c < targets_.size(); ++c) {
    const Totals of = totals_of(c, nothing_);
    if (of.values > 0) factors_[c] = times * of.values / of.about_mean / present(c);
  }
}

template <class T>
double TargetNoise<T>::log_likelihood() const {
  double sum = log_likelihood_;
  for (std::size_t c = 0; c < targets_.size(); ++c)
    sum +=
        (targets_[c].values * std::log(factors_[c]) - (factors_[c] - 1) * present(c) * targets_[c].errors) /
        2;
  return sum;
}

template <class T>
double TargetNoise<T>::of_constant() const {
  double sum = 0;
  for (const Sums& of : targets_) sum -= of.values * (std::log(2 * std::numbers::pi * of.variance()) + 1) / 2;
  return sum;
}

template <class T>
ConstSpan<double> TargetNoise<T>::precisions() {
  for (std::size_t p = 0; p < precisions_.size(); ++p) precisions_[p] = precision(p);
  return precisions_;
}

template <class T>
ConstSpan<double> TargetNoise<T>::precisions_of_constant() {
  for (std::size_t p = 0; p < precisions_.size(); ++p) {
    const Totals of = totals_of(p, nothing_);
    precisions_[p] = of.values / of.about_mean;
  }
  return precisions_;
}

template class TargetNoise<float>;
template class TargetNoise<double>;

}  // namespace bdl
