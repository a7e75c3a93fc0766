#include "inference/batch/first_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "inference/batch/averages.hpp"
#include "inference/methods/schedule.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/points.hpp"

namespace bdl {
namespace {

/// Position of the first value that is not in [low, infinity); as many as there are values if all are.
template <class T>
Index first_outside(ConstSpan<T> values, T low) {
  constexpr T high = std::numeric_limits<T>::max();
  int outside = 0;
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (const T value : values) outside |= value >= low && value <= high ? 0 : 1;
  });
  if (outside == 0) return std::ssize(values);
  return std::ranges::find_if_not(values, [=](T value) { return value >= low && value <= high; }) -
         values.begin();
}

}  // namespace

/// Steps by turns write the averages `next` and commit them.
template <class T>
void FirstOrder<T>::reserve_moments(Index size, const Options& options) {
  for (Moments<T>* moments : {&now_, &next_}) {
    const bool holds = moments == &now_ && moments->steps > 0;  // which a larger one would lose
    if (!holds) moments->first.reserve(size);
    if (!holds && options.descent != DescentOption::sgd) moments->second.reserve(size);
  }
}

template <class T>
void FirstOrder<T>::reserve(Index dimension, bool moves_scales, const Options& options) {
  reserve_moments(moves_scales ? 2 * dimension : dimension, options);
  if (moves_scales) {
    precision_.reserve(dimension);
    old_precision_.reserve(dimension);
  } else {
    mean_buffer_.reserve(dimension);
  }
}

template <class T>
typename FirstOrder<T>::Averages FirstOrder<T>::begin(Index size, const DescentStep<T>& step,
                                                      const Options& options) {
  const bool goes_on = now_.steps > 0 && now_.size == size && now_.kind == options.descent;
  tied_.set_moved(false);  // whatever a failed step has left
  next_.size = size;
  next_.kind = options.descent;
  next_.steps = goes_on ? now_.steps + 1 : 1;
  const auto t = static_cast<double>(next_.steps);
  const MomentumTerms momentum = momentum_terms(options, next_.steps);
  const double beta2 = options.adam_beta2;
  return {goes_on ? now_.first.data() : nullptr,
          goes_on ? now_.second.data() : nullptr,
          next_.first.data(),
          next_.second.data(),
          static_cast<T>(step.rate * momentum.factor),
          static_cast<T>(momentum.keep),
          static_cast<T>(momentum.add),
          static_cast<T>(beta2),
          static_cast<T>(1 - beta2),
          static_cast<T>(1 / (1 - std::pow(beta2, t))),
          static_cast<T>(options.adam_epsilon)};
}

/// The loss per example has the gradient g / N.
template <class T>
template <bool adam>
void FirstOrder<T>::step_mean(const DescentStep<T>& step, const Averages& averages, std::span<T> mean) {
  const T *g = step.gradient.data(), *old = step.from.mean().data();
  const T each = static_cast<T>(step.gradient_scale / step.data_size);
  T* const next = mean.data();
  parallel_blocks(step.from.dimension(), 1 << 14, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      const T* const some = g + first;
      averages.template move<adam>(first, count, old + first, next + first,
                                   [=](Index i) BDL_INLINE_LAMBDA { return each * some[i]; });
    });
  });
}

/// The loss has the gradient (sigma (H + w lambda) - w / sigma) / N with respect to sigma, w the weight of
/// the KL divergence; precision_ holds H on entry and 1 / sigma^2 on exit.
template <class T>
template <bool adam, class Scale>
void FirstOrder<T>::step_scales(const DescentStep<T>& step, const Averages& averages, std::span<T> h) {
  const Index dimension = step.from.dimension();
  const T *old = old_precision_.data(), *lambda = step.prior_precision.data();
  const T each = static_cast<T>(1 / step.data_size), weight = static_cast<T>(step.kl_weight);
  T* const next = h.data();
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    const T root = std::sqrt(old[i]), sigma = 1 / root;
    const T slope = (sigma * (next[i] + weight * lambda[i]) - weight * root) * Scale::slope(sigma);
    const T moved = Scale::moved(sigma, averages.template shift<adam>(dimension + i, each * slope));
    next[i] = 1 / (moved * moved);
  });
}

template <class T>
void FirstOrder<T>::step_mean(const DescentStep<T>& step, const Averages& averages, const Options& options,
                              std::span<T> mean) {
  is_adam(options) ? step_mean<true>(step, averages, mean) : step_mean<false>(step, averages, mean);
}

template <class T>
ConstSpan<T> FirstOrder<T>::move_mean(const DescentStep<T>& step, const Options& options) {
  const Index dimension = step.from.dimension();
  reserve(dimension, false, options);
  const auto mean = mean_buffer_.first(dimension);
  const Averages averages = begin(dimension, step, options);
  step_mean(step, averages, options, mean);
  check("mean", mean, std::numeric_limits<T>::lowest(), step.number);
  mean_ = mean;
  return mean_;
}

template <class T>
void FirstOrder<T>::move_diagonal(const DescentStep<T>& step, const Curvature<T>& curvature,
                                  const Options& options, Posterior<T>& to) {
  const Index dimension = step.from.dimension();
  reserve(dimension, true, options);
  const auto precision = precision_.first(dimension);
  curvature_diagonal(curvature, precision);
  step.from.precision_diagonal(old_precision_.first(dimension));
  const Averages averages = begin(2 * dimension, step, options);
  const bool adam = is_adam(options);
  step_mean(step, averages, options, to.mean());
  with_scale(options.scale_parameter, [&](auto scale) {
    using Scale = decltype(scale);
    adam ? step_scales<true, Scale>(step, averages, precision)
         : step_scales<false, Scale>(step, averages, precision);
  });
  fill_points(step.from.points(), T(1), precision);
  check("mean", to.mean(), std::numeric_limits<T>::lowest(), step.number);
  check("precision", precision, std::numeric_limits<T>::min(), step.number);
  to.set_diagonal(precision, std::nullopt);
}

/// The values and the averages: a square that has overflowed would hold its parameter for ever.
template <class T>
void FirstOrder<T>::check(const char* what, ConstSpan<T> values, T lowest, Index number) const {
  const auto check_range = [&](const char* of, ConstSpan<T> range, T low) {
    const Index bad = first_outside(range, low);
    if (bad < std::ssize(range))
      fail(Status::ERROR_DIVERGED, "the %s of parameter %lld (counting from 0) is not finite after step %lld",
           of, static_cast<long long>(bad % std::ssize(values)), static_cast<long long>(number));
  };
  check_range(what, values, lowest);
  check_range("gradient's average", next_.first.first(next_.size), std::numeric_limits<T>::lowest());
  const bool is_square = next_.kind == DescentOption::adam || next_.kind == DescentOption::vogn;
  if (next_.has_second())
    check_range(next_.kind == DescentOption::adam ? "squared gradient's average" : "curvature's average",
                next_.second.first(next_.size), is_square ? T(0) : std::numeric_limits<T>::lowest());
}

template class FirstOrder<float>;
template class FirstOrder<double>;

}  // namespace bdl
