#include "inference/stream/stream_guard.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "likelihood/expected_loss.hpp"

namespace bdl {
namespace {

constexpr int halvings = 20;
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

template <class T>
void StreamGuard<T>::reserve(const Posterior<T>& prior, Index examples, bool sampled,
                             PosteriorScratch<T>& scratch) {
  shift_.reserve(model_.parameters());
  if (sampled) theta_.reserve(model_.parameters());
  outputs_.reserve(model_.outputs() * examples);
  slope_.reserve(model_.outputs());
  prior.reserve(1, scratch);
}

template <class T>
ConstMatrixView<T> StreamGuard<T>::outputs(ConstSpan<T> theta, ConstMatrixView<T> x) {
  const auto f = outputs_.matrix(model_.outputs(), x.cols);
  model_.forward(theta, x, f, forward_scratch_);
  return f;
}

/// Adds -log p(y | f), expected over outputs of these variances if there are any.
template <class T>
void StreamGuard<T>::add(ConstMatrixView<T> f, ConstMatrixView<T> y, ConstSpan<double> variances, Loss& sum) {
  const Likelihood& likelihood = model_.likelihood;
  for (Index i = 0; i < f.cols; ++i) {
    const T *const output = f.column_data(i), *const target = y.column_data(i);
    const bool finite = std::all_of(output, output + f.rows, [](T value) { return std::isfinite(value); });
    const double term = !finite             ? infinite
                        : variances.empty() ? -likelihood.log_density(output, target)
                                            : expected_loss(likelihood, static_cast<double>(output[0]),
                                                            variances[static_cast<std::size_t>(i)],
                                                            static_cast<double>(target[0]))
                                                  .loss;
    sum.value += std::isfinite(term) ? term : infinite;
    if (!std::isfinite(term)) return;
    likelihood.gradient(output, target, slope_.data());
    sum.rounding += std::abs(term);
    for (Index c = 0; c < f.rows; ++c)
      sum.rounding += std::abs(static_cast<double>(slope_.data()[c]) * static_cast<double>(output[c]));
  }
}

template <class T>
auto StreamGuard<T>::loss(ConstSpan<T> mean, ConstMatrixView<T> x, ConstMatrixView<T> y,
                          const EvidencePoints<T>& points) -> Loss {
  Loss sum;
  if (points.thetas.cols == 0) {
    const bool known = points.outputs.cols > 0 && mean.data() == points.center.data();
    add(known ? points.outputs : outputs(mean, x), y, points.variances, sum);
  }
  for (Index s = 0; s < points.thetas.cols; ++s) {
    const auto theta = theta_.first(model_.parameters());
    const T* const sample = points.thetas.column_data(s);
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = mean[i] + (sample[i] - points.center[i]);
    add(outputs(theta, x), y, {}, sum);
  }
  const double count = static_cast<double>(std::max<Index>(1, points.thetas.cols));
  // An output is a sum over parameters: its rounding grows as the root of their number.
  const double rounding = 16 * std::sqrt(static_cast<double>(mean.size())) *
                          static_cast<double>(std::numeric_limits<T>::epsilon());
  return {sum.value / count, rounding * sum.rounding / count};
}

template <class T>
bool StreamGuard<T>::hold_back(const Posterior<T>& prior, ConstMatrixView<T> x, ConstMatrixView<T> y,
                               const EvidencePoints<T>& points, Posterior<T>& next,
                               PosteriorScratch<T>& scratch) {
  const Index dimension = prior.dimension();
  reserve(prior, x.cols, points.thetas.cols > 0, scratch);
  const auto shift = shift_.first(dimension), mean = next.mean();
  std::ranges::transform(mean, prior.mean(), shift.begin(), std::minus<>());
  const double distance = next.squared_shift(prior, shift, scratch) / 2;
  const Loss before = loss(prior.mean(), x, y, points);
  double part = 1;
  for (int k = 0; k <= halvings; ++k, part /= 2) {
    if (k > 0)
      for (std::size_t i = 0; i < mean.size(); ++i)
        mean[i] = prior.mean()[i] + static_cast<T>(part) * shift[i];
    const Loss after = loss(mean, x, y, points);
    const double rise = after.value + part * part * distance - before.value;
    // Whatever is finite is better than what is not.
    const bool falls =
        before.value == infinite ? after.value < infinite : rise <= before.rounding + after.rounding;
    if (falls) return part < 1;
  }
  std::ranges::copy(prior.mean(), mean.begin());
  return true;
}

template class StreamGuard<float>;
template class StreamGuard<double>;

}  // namespace bdl
