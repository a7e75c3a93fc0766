// SGD with momentum and Adam on the loss per example, as neural networks are trained. Rule "map" moves the
// mean by the gradient
//
//   g = (sum over the minibatch of N / M grad(-log p) + w Lambda_0 (mu - mu_0)) / N      w: the KL weight
//
// Rule "bbb" (Bayes by backprop, Blundell et al. 2015) moves the mean and rho of a diagonal Gaussian, where
// sigma is exp(rho), log(1 + exp(rho)) or exp(rho / 2). elrg.cpp has the same rule for low-rank-moment
// posteriors.
#include "steps/first_order.hpp"

#include <limits>

#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {

/// Returns values whose product with `scale` is the gradient of minus the expected log likelihood plus weight
/// times the KL divergence. If the weight is 0, returns the gradient alone.
template <class T>
PenalizedGradient<T> penalized(const StepInput<T>& in, const Evidence<T>& evidence) {
  const double weight = in.rates.temperature;
  const ConstSpan<T> gradient = gradient_of(evidence, in.scratch), mean = in.q.mean();
  if (!(weight > 0)) return {gradient, weight, 1};
  const auto slope = in.scratch.template take<T>(in.dimension());
  if (const auto* const dropout = find_dropout(in.q)) {
    dropout->weigh_prior(in.prior.precision(), slope);
    in.prior.slope(mean, gradient, slope, slope, in.scratch);
  } else if (weight != 1) {
    in.prior.slope(mean, static_cast<T>(1 / weight), gradient, slope, in.scratch);
  } else {
    in.prior.slope(mean, gradient, in.prior.precision(), slope, in.scratch);
  }
  if (in.options.rule == Rule::map && in.options.point_decay > 0) {
    const T decay = static_cast<T>(in.options.point_decay * in.data_size / weight);
    for (const auto& [offset, size] : in.q.point_parameters().ranges)
      for (Index i = offset; i < offset + size; ++i) slope[at(i)] += decay * mean[at(i)];
  }
  return {slope, weight, weight};
}

namespace {

template <bool adam, class T>
void move_mean(const StepInput<T>& in, const PenalizedGradient<T>& gradient, const AdamTerms<T>& terms,
               std::span<T> mean) {
  const T *g = gradient.values.data(), *old = in.q.mean().data();
  const T each = static_cast<T>(gradient.scale / in.data_size);
  T* const next = mean.data();
  parallel_blocks(in.dimension(), 1 << 14, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      const T* const some = g + first;
      terms.template move<adam>(first, count, old + first, next + first,
                                [=](Index i) BDL_INLINE_LAMBDA { return each * some[i]; });
    });
  });
}

/// Moves the standard deviations by the loss's gradient (sigma (H + w lambda) - w / sigma) / N. `precision`
/// holds H on entry and 1 / sigma^2 on exit.
template <bool adam, class Scale, class T>
void move_deviations(const StepInput<T>& in, double kl_weight, const AdamTerms<T>& terms, ConstSpan<T> before,
                     std::span<T> precision) {
  const Index dimension = in.dimension();
  const T *old = before.data(), *lambda = in.prior.precision().data();
  const T each = static_cast<T>(1 / in.data_size), weight = static_cast<T>(kl_weight);
  T* const next = precision.data();
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    const T root = std::sqrt(old[i]), sigma = 1 / root;
    const T slope = (sigma * (next[i] + weight * lambda[i]) - weight * root) * Scale::slope(sigma);
    const T moved = Scale::moved(sigma, terms.template shift<adam>(dimension + i, each * slope));
    next[i] = 1 / (moved * moved);
  });
}

}  // namespace

template <class T>
void move_mean(const StepInput<T>& in, const PenalizedGradient<T>& gradient, const AdamTerms<T>& terms,
               std::span<T> mean) {
  is_adam(in.options) ? move_mean<true>(in, gradient, terms, mean)
                      : move_mean<false>(in, gradient, terms, mean);
}

template <class T>
StepResult mean_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages) {
  const PenalizedGradient<T> gradient = penalized(in, evidence);
  const AdamTerms<T> terms = averages.moments.begin(in.dimension(), in.rates.mean, in.options);
  const auto mean = averages.mean.first(in.dimension());
  move_mean(in, gradient, terms, mean);
  averages.moments.check("mean", mean, std::numeric_limits<T>::lowest(), in.number);
  return {};
}

template <class T>
StepResult diagonal_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                         Posterior<T>& next) {
  const Index dimension = in.dimension();
  const auto precision = in.scratch.template take<T>(dimension),
             before = in.scratch.template take<T>(dimension);
  const PenalizedGradient<T> gradient = penalized(in, evidence);
  curvature_diagonal(evidence.curvature, precision);
  in.q.precision_diagonal(before);
  const AdamTerms<T> terms = averages.moments.begin(2 * dimension, in.rates.mean, in.options);
  move_mean(in, gradient, terms, next.mean());
  with_scale(in.options.scale_parameter, [&](auto scale) {
    using Scale = decltype(scale);
    is_adam(in.options) ? move_deviations<true, Scale, T>(in, gradient.weight, terms, before, precision)
                        : move_deviations<false, Scale, T>(in, gradient.weight, terms, before, precision);
  });
  fill_point_parameters(in.q.point_parameters(), T(1), precision);
  averages.moments.check("mean", next.mean(), std::numeric_limits<T>::lowest(), in.number);
  averages.moments.check("precision", precision, std::numeric_limits<T>::min(), in.number);
  next.set_diagonal(precision, std::nullopt);
  return {};
}

#define BDL_INSTANTIATE(T)                                                                       \
  template PenalizedGradient<T> penalized(const StepInput<T>&, const Evidence<T>&);              \
  template void move_mean(const StepInput<T>&, const PenalizedGradient<T>&, const AdamTerms<T>&, \
                          std::span<T>);                                                         \
  template StepResult mean_step(const StepInput<T>&, const Evidence<T>&, Averages<T>&);          \
  template StepResult diagonal_step(const StepInput<T>&, const Evidence<T>&, Averages<T>&, Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
