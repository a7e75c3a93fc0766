// Steps of VOGN (Osawa et al. 2019) and IVON (Shen et al. 2024): the mean goes down the gradient over a
// curvature per example s, which is also the posterior's: Lambda = N (s + reg + gamma) / tau, with the
// prior's share reg = tau Lambda_0 / N (docs/mathematics/vogn.md).
#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/batch/averages.hpp"
#include "inference/methods/schedule.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/points.hpp"

namespace bdl {

/// The numbers of a step, per example.
template <class T>
struct FirstOrder<T>::NewtonTerms {
  const T *m,
      *s;  ///< before the step; null: none, and s is what the precision says or, at the start, `initial`
  const T* pull;  ///< the prior's slope, summed
  T each, keep, add, factor, rate, curvature_rate, keep_curvature;
  T reg, next_reg;  ///< per unit of the prior's precision
  T of_precision, to_precision;
  T damping, of_damping;  ///< gamma in the step, in the precision
  T pull_each, initial, clip;
  bool at_start, rescales;

  /// The curvature before the step, of a parameter whose prior's share is `share`.
  BDL_ALWAYS_INLINE T curvature(Index i, T precision, T share, T least) const {
    if (s) return s[i];
    return at_start ? initial : std::max(least, of_precision * precision - share - of_damping);
  }
};

template <class T>
void FirstOrder<T>::reserve_newton(Index dimension, const Options& options) {
  reserve(dimension, true, options);
}

template <class T>
void FirstOrder<T>::move_newton(const DescentStep<T>& step, const NewtonStep<T>& newton,
                                const Curvature<T>& curvature, const Options& options, Posterior<T>& to) {
  const Index dimension = step.from.dimension();
  reserve_newton(dimension, options);
  const auto precision = precision_.first(dimension);
  curvature_diagonal(curvature, precision);
  const Averages averages = begin(dimension, step, options);
  if (!averages.second) step.from.precision_diagonal(old_precision_.first(dimension));
  const MomentumTerms momentum = momentum_terms(options, next_.steps);
  const double n = step.data_size, tau = newton.temperature, next_tau = newton.next_temperature;
  const bool first_curvature = newton.at_start && options.initial_curvature == 0,
             printed = options.tempering == Tempering::printed;
  const double b = first_curvature ? 1 : newton.curvature_rate,
               in_precision = options.damping_in == DampingIn::both ? options.damping : 0;
  NewtonTerms terms;
  terms.m = averages.first;
  terms.s = averages.second;
  terms.pull = newton.prior_slope.data();
  terms.each = static_cast<T>(1 / n);
  terms.keep = static_cast<T>(momentum.keep);
  terms.add = static_cast<T>(momentum.add);
  terms.factor = static_cast<T>(momentum.factor);
  terms.rate = static_cast<T>(step.rate);
  terms.curvature_rate = static_cast<T>(b);
  terms.keep_curvature = static_cast<T>(1 - (printed ? tau * b : b));
  terms.reg = static_cast<T>(tau / n);
  terms.next_reg = static_cast<T>(next_tau / n);
  terms.of_precision = static_cast<T>((printed ? 1 : tau) / n);
  terms.to_precision = static_cast<T>(n / (printed ? 1 : next_tau));
  terms.damping = static_cast<T>(options.damping);
  terms.of_damping = static_cast<T>(in_precision);
  terms.pull_each = static_cast<T>(tau / n);
  terms.initial = static_cast<T>(options.initial_precision > 0 ? tau * options.initial_precision / n
                                                               : options.initial_curvature);
  terms.clip = options.clip > 0 ? static_cast<T>(options.clip) : std::numeric_limits<T>::max();
  terms.at_start = newton.at_start;
  terms.rescales = options.rescale_rate != 0;
  options.descent == DescentOption::ivon ? step_newton<true>(step, terms, to.mean(), precision)
                                         : step_newton<false>(step, terms, to.mean(), precision);
  if (!step.from.points().ranges.empty()) step_points(step, newton, terms, options, to.mean());
  fill_points(step.from.points(), T(1), precision);
  check("mean", to.mean(), std::numeric_limits<T>::lowest(), step.number);
  check("precision", precision, std::numeric_limits<T>::min(), step.number);
  to.set_diagonal(precision, std::nullopt);
}

/// `precision` holds the curvature, summed, on entry and the posterior's on exit. A few parameters at a time,
/// beside what is read: else compilers fear overlaps and make no vectors.
template <class T>
template <bool is_ivon>
void FirstOrder<T>::step_newton(const DescentStep<T>& step, const NewtonTerms& terms, std::span<T> mean,
                                std::span<T> precision) {
  const T *const g = step.gradient.data(), *const lambda = step.prior_precision.data(),
                 *const before = old_precision_.data(), *const from = step.from.mean().data();
  T *const next_m = next_.first.data(), *const next_s = next_.second.data(), *const to = mean.data(),
           *const h = precision.data();
  parallel_blocks(step.from.dimension(), 1 << 12, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      constexpr Index most = 256;
      T m[most], s[most], moved[most], made[most];
      const NewtonTerms t = terms;
      for (Index begin = first; begin < first + count; begin += most) {
        const Index some = std::min(most, first + count - begin);
        for (Index k = 0; k < some; ++k) {
          const Index i = begin + k;
          const T share = t.reg * lambda[i], pull = t.pull_each * t.pull[i], slope = t.each * g[i],
                  curvature = t.each * h[i];
          const T old = t.curvature(i, before[i], share, is_ivon ? std::numeric_limits<T>::lowest() : T(0));
          const T fresh = is_ivon ? slope : slope + pull;
          m[k] = t.keep * (t.m ? t.m[i] : T(0)) + t.add * fresh;
          T direction, length = t.rate;
          if constexpr (is_ivon) {
            const T change = t.curvature_rate * (curvature - old);
            s[k] = old + change + change * change / (2 * (old + share));
            direction = (t.factor * m[k] + pull) / (s[k] + share + t.damping);
            direction = std::clamp(direction, -t.clip, t.clip);
            if (t.rescales) length *= t.initial + share;
          } else {
            s[k] = t.keep_curvature * old + t.curvature_rate * curvature;
            direction = t.factor * m[k] / (s[k] + share + t.damping);
          }
          moved[k] = from[i] - length * direction;
          made[k] = t.to_precision * (s[k] + t.next_reg * lambda[i] + t.of_damping);
        }
        std::copy_n(m, some, next_m + begin);
        std::copy_n(s, some, next_s + begin);
        std::copy_n(moved, some, to + begin);
        std::copy_n(made, some, h + begin);
      }
    });
  });
}

/// Points have no prior, and no noise to learn a curvature from: IVON's stays as it started, so that these
/// steps are SGD's; VOGN has their squared gradients.
template <class T>
void FirstOrder<T>::step_points(const DescentStep<T>& step, const NewtonStep<T>& newton, const NewtonTerms& t,
                                const Options& options, std::span<T> mean) {
  const bool is_ivon = options.descent == DescentOption::ivon;
  const T damping = static_cast<T>(options.point_damping);
  std::size_t k = 0;
  for (const auto& [offset, size] : step.from.points().ranges)
    for (Index i = offset; i < offset + size; ++i, ++k) {
      T &m = next_.first.data()[i], &s = next_.second.data()[i];
      m = t.keep * (t.m ? t.m[i] : T(0)) + t.add * t.each * step.gradient[at(i)];
      const T old = t.s ? t.s[i] : t.at_start ? t.initial : T(0);
      T shift = t.rate * t.factor * m;
      if (is_ivon) {
        s = t.initial;
        if (!t.rescales) shift /= s;
      } else {
        s = t.keep_curvature * old + t.curvature_rate * t.each * newton.point_squares[k];
        shift /= s + damping;
      }
      mean[at(i)] = step.from.mean()[at(i)] - shift;
    }
}

#define BDL_INSTANTIATE(T)                                                                                   \
  template void FirstOrder<T>::reserve_newton(Index, const Options&);                                        \
  template void FirstOrder<T>::move_newton(const DescentStep<T>&, const NewtonStep<T>&, const Curvature<T>&, \
                                           const Options&, Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
