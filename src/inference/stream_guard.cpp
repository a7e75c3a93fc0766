#include "inference/stream_guard.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace bdl {
namespace {

constexpr int halvings = 20;
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

/// -log p(y | f(x; theta)). An output is a sum over parameters: its rounding grows as the root of their
/// number.
template <class T>
auto StreamGuard<T>::loss(ConstSpan<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> y) -> Loss {
  const Likelihood& likelihood = model_.likelihood;
  const Index count = model_.outputs();
  outputs_.reserve(count * (x.cols + 1));
  const auto f = outputs_.matrix(count, x.cols);
  T* const slope = outputs_.data() + count * x.cols;
  model_.forward(theta, x, f, forward_scratch_);
  Loss loss{0, 0};
  for (Index i = 0; i < x.cols; ++i) {
    const T* const output = f.column_data(i);
    if (!std::all_of(output, output + count, [](T value) { return std::isfinite(value); }))
      return {infinite, 0};
    const double term = likelihood.log_density(output, y.column_data(i));
    likelihood.gradient(output, y.column_data(i), slope);
    loss.value -= term;
    loss.rounding += std::abs(term);
    for (Index c = 0; c < count; ++c)
      loss.rounding += std::abs(static_cast<double>(slope[c]) * static_cast<double>(output[c]));
  }
  loss.rounding *= 16 * std::sqrt(static_cast<double>(theta.size())) *
                   static_cast<double>(std::numeric_limits<T>::epsilon());
  return std::isfinite(loss.value) ? loss : Loss{infinite, 0};
}

template <class T>
bool StreamGuard<T>::hold_back(const Posterior<T>& prior, ConstMatrixView<T> x, ConstMatrixView<T> y,
                               Posterior<T>& next, PosteriorScratch<T>& scratch) {
  const Index dimension = prior.dimension();
  shift_.reserve(dimension);
  const auto shift = shift_.first(dimension), mean = next.mean();
  std::ranges::transform(mean, prior.mean(), shift.begin(), std::minus<>());
  const double distance = prior.quadratic(shift, scratch) / 2;
  const Loss before = loss(prior.mean(), x, y);
  double part = 1;
  for (int k = 0;; ++k, part /= 2) {
    const Loss after = loss(mean, x, y);
    const double rise = after.value + part * part * distance - before.value;
    // Anything is better than a loss that is not finite.
    const bool falls =
        before.value == infinite ? after.value < infinite : rise <= before.rounding + after.rounding;
    if (falls) return part < 1;
    if (k == halvings) break;
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] = prior.mean()[i] + static_cast<T>(part / 2) * shift[i];
  }
  std::ranges::copy(prior.mean(), mean.begin());
  return true;
}

template <class T>
Index StreamGuard<T>::bytes(Index examples) const {
  return static_cast<Index>(sizeof(T)) *
         (model_.parameters() + model_.outputs() * (examples + 1) + model_.scratch_size(examples));
}

template class StreamGuard<float>;
template class StreamGuard<double>;

}  // namespace bdl
