#include "train/stream/prequential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "likelihood/linearized_density.hpp"

namespace bdl {

PrequentialSums& PrequentialSums::operator+=(const PrequentialSums& other) {
  examples += other.examples;
  targets += other.targets;
  log_density += other.log_density;
  error += other.error;
  return *this;
}

template <class T>
void Prequential<T>::reserve(Index examples, ScoreKind kind) {
  const Index outputs = model_.outputs(), count = outputs * examples;
  f_.reserve(count);
  mean_.reserve(2 * std::max(outputs, model_.likelihood.moment_count()));
  if (kind == ScoreKind::linearized) {
    density_scratch_.reserve(linearized_density_scratch(outputs));
    return;
  }
  density_scratch_.reserve(outputs + 1);
  outputs_.reserve(count);
}

template <class T>
void Prequential<T>::predict(const Posterior<T>& q, ConstMatrixView<T> x, ScoreKind kind) {
  if (kind == ScoreKind::none) return;
  reserve(x.cols, kind);
  const Index outputs = model_.outputs(), count = outputs * x.cols;
  if (kind == ScoreKind::linearized) {
    linearized_.compute(q, x);
    linearized_.check();
    std::copy_n(linearized_.mean().data, count, f_.data());
    return;
  }
  const auto f = outputs_.matrix(outputs, x.cols);
  model_.forward(q.mean(), x, f, scratch_);
  check_outputs_finite<T>(f);
  std::transform(f.data, f.data + count, f_.data(), [](T value) { return static_cast<double>(value); });
}

template <class T>
void Prequential<T>::add_error(const double* f, const T* y, PrequentialSums& sums) {
  const Likelihood& likelihood = model_.likelihood;
  double* const mean = mean_.data();
  const double weight = likelihood.weight(y);
  likelihood.moments(f, mean, mean + std::max(likelihood.outputs(), likelihood.moment_count()));
  if (likelihood.has_one_label()) {
    sums.error += likelihood.top_class(f) == static_cast<Index>(y[0]) ? 0 : weight;
    sums.targets += weight;
    return;
  }
  for (Index c = 0; c < likelihood.targets(); ++c) {
    const double target = static_cast<double>(y[c]);
    if (std::isnan(target)) continue;
    if (likelihood.target_kind() == TargetKind::label)
      sums.error += weight * (mean[c] > 0.5 ? 1 - target : target);
    else
      sums.error +=
          weight * model_.standardization.variance_to_caller(c, (target - mean[c]) * (target - mean[c]));
    sums.targets += weight;
  }
}

template <class T>
PrequentialSums Prequential<T>::score(ConstMatrixView<T> y, ScoreKind kind, std::span<double> scores) {
  PrequentialSums sums;
  std::ranges::fill(scores, std::numeric_limits<double>::quiet_NaN());
  if (kind == ScoreKind::none) return sums;
  const Index outputs = model_.outputs();
  for (Index i = 0; i < y.cols; ++i) {
    const double* const f = f_.data() + i * outputs;
    double& score = scores[static_cast<std::size_t>(i)];
    if (kind == ScoreKind::linearized) {
      score = linearized_log_density<T>(model_.likelihood, {f, static_cast<std::size_t>(outputs)},
                                        linearized_.covariance(i), y.column_data(i), density_scratch_);
    } else {
      std::ranges::transform(y.column(i), density_scratch_.data(),
                             [](T value) { return static_cast<double>(value); });
      score = model_.likelihood.weighted_log_density(f, std::as_const(density_scratch_).data());
    }
    const double weight = model_.likelihood.weight(y.column_data(i));
    score -= weight * model_.standardization.log_scale(y.column_data(i));
    sums.log_density += score;
    sums.examples += weight;
    add_error(f, y.column_data(i), sums);
  }
  return sums;
}

template class Prequential<float>;
template class Prequential<double>;

}  // namespace bdl
