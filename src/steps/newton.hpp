// The common part of VOGN and IVON: steps of a diagonal Gaussian with precision N (s + reg + gamma) / tau,
// where s is the curvature per example, reg = tau Lambda_0 / N the prior's term, gamma the damping and tau
// the temperature (docs/theory/vogn.md). vogn.cpp and ivon.cpp have one struct each, with the
// functions
//
//   direction(...)     writes the next m and s of a parameter and returns the direction of its mean's step;
//                      may change the length of that step (IVON)
//   point_shift(...)   writes the next m and s of a point parameter and returns its step
//   least()            returns the least curvature that a given precision is turned into
//
// move_parameters() is the loop over the parameters, newton_step() the whole step.
#pragma once

#include <limits>

#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/point_parameters.hpp"
#include "steps/averages.hpp"

namespace bdl {

/// A parameter before a step: m, and per example g, h, s, reg and prior_slope = reg (mu - mu_0).
template <class T>
struct NewtonParameter {
  T g, h, m, s, reg, prior_slope;
};

/// Averages and constants of one step; gradients and curvatures are per example.
template <class T>
struct NewtonTerms {
  const T *m, *s;  ///< averages before the step. Null if there are none: s then comes from the precision
                   ///< or, at the start, is `initial`
  const T* prior_slope;              ///< Lambda_0 (mu - mu_0), not divided by N
  T per_example;                     ///< 1 / N
  T keep, add, bias_correction;      ///< of momentum (methods/schedule.hpp)
  T rate;                            ///< alpha
  T curvature_rate, keep_curvature;  ///< beta_2, and 1 - beta_2 (1 - tau beta_2 by tempering "printed")
  T reg, next_reg;  ///< tau / N, in this step and in the next precision: reg for one unit of Lambda_0
  T of_precision, to_precision;  ///< tau / N, by which s is read from a precision, and N / tau
  T damping, of_damping;         ///< gamma in the step, and in the precision
  T initial, clip;               ///< s at the start; bound of the direction (IVON)
  bool at_start, rescales;  ///< true before s is known; true if rates are relative to the initial s (IVON)

  BDL_ALWAYS_INLINE T momentum(Index i) const { return m ? m[i] : T(0); }
  /// Returns the s of parameter i before the step.
  BDL_ALWAYS_INLINE T curvature(Index i, T precision, T parameter_reg, T least) const {
    if (s) return s[i];
    return at_start ? initial : std::max(least, of_precision * precision - parameter_reg - of_damping);
  }
};

/// True in a first step without option initial_precision: the curvature then starts as option
/// initial_curvature or, if that is 0, as this minibatch's.
template <class T>
bool begins_curvature(const StepInput<T>& in) {
  return in.is_fresh && in.options.initial_precision == 0;
}

/// Returns the curvature's rate: the planned one if option start_share is set, else option curvature_rate.
template <class T>
double newton_rate(const StepInput<T>& in) {
  return in.options.start_share > 0 ? in.rates.curvature : in.options.curvature_rate;
}

template <class T>
NewtonTerms<T> newton_terms(const StepInput<T>& in, const AdamTerms<T>& averages, Index gradients,
                            ConstSpan<T> prior_slope) {
  const Options& options = in.options;
  const MomentumTerms momentum = momentum_terms(options, gradients);
  const double n = in.data_size, tau = in.rates.temperature, next_tau = in.rates.next_temperature;
  const bool first_curvature = begins_curvature(in) && options.initial_curvature == 0,
             printed = options.tempering == Tempering::printed;
  const double b = first_curvature ? 1 : newton_rate(in),
               in_precision = options.damping_in == DampingIn::both ? options.damping : 0;
  NewtonTerms<T> terms;
  terms.m = averages.first;
  terms.s = averages.second;
  terms.prior_slope = prior_slope.data();
  terms.per_example = static_cast<T>(1 / n);
  terms.keep = static_cast<T>(momentum.keep);
  terms.add = static_cast<T>(momentum.add);
  terms.bias_correction = static_cast<T>(momentum.bias_correction);
  terms.rate = static_cast<T>(in.rates.mean);
  terms.curvature_rate = static_cast<T>(b);
  terms.keep_curvature = static_cast<T>(1 - (printed ? tau * b : b));
  terms.reg = static_cast<T>(tau / n);
  terms.next_reg = static_cast<T>(next_tau / n);
  terms.of_precision = static_cast<T>((printed ? 1 : tau) / n);
  terms.to_precision = static_cast<T>(n / (printed ? 1 : next_tau));
  terms.damping = static_cast<T>(options.damping);
  terms.of_damping = static_cast<T>(in_precision);
  terms.initial = static_cast<T>(options.initial_precision > 0 ? tau * options.initial_precision / n
                                                               : options.initial_curvature);
  terms.clip = options.clip > 0 ? static_cast<T>(options.clip) : std::numeric_limits<T>::max();
  terms.at_start = begins_curvature(in);
  terms.rescales = options.rescale_rate != 0;
  return terms;
}

/// Moves all parameters. `precision` holds the summed curvature on entry, the posterior's precision on
/// exit. Results go through small local arrays: without them, compilers assume overlaps and do not
/// vectorise.
template <class Update, class T>
void move_parameters(const StepInput<T>& in, const NewtonTerms<T>& terms, ConstSpan<T> gradient,
                     ConstSpan<T> old_precision, const AdamTerms<T>& averages, std::span<T> mean,
                     std::span<T> precision) {
  const T *const g = gradient.data(), *const lambda = in.prior.precision().data(),
                 *const before = old_precision.data(), *const from = in.q.mean().data();
  T *const next_m = averages.next_first, *const next_s = averages.next_second, *const to = mean.data(),
           *const h = precision.data();
  parallel_blocks(in.dimension(), 1 << 12, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      constexpr Index most = 256;
      T m[most], s[most], moved[most], made[most];
      const NewtonTerms<T> t = terms;
      for (Index begin = first; begin < first + count; begin += most) {
        const Index some = std::min(most, first + count - begin);
        for (Index k = 0; k < some; ++k) {
          const Index i = begin + k;
          const T reg = t.reg * lambda[i];
          const NewtonParameter<T> p{t.per_example * g[i],
                                     t.per_example * h[i],
                                     t.momentum(i),
                                     t.curvature(i, before[i], reg, Update::template least<T>()),
                                     reg,
                                     t.reg * t.prior_slope[i]};
          T length = t.rate;
          const T direction = Update::template direction<T>(t, p, m[k], s[k], length);
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

/// Takes the step of VOGN or IVON.
template <class Update, class T>
StepResult newton_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                       Posterior<T>& next) {
  const Index dimension = in.dimension();
  const auto prior_slope = in.scratch.template take<T>(dimension),
             precision = in.scratch.template take<T>(dimension),
             old_precision = in.scratch.template take<T>(dimension);
  const ConstSpan<T> gradient = gradient_of(evidence, in.scratch);
  in.prior.slope(in.q.mean(), T(0), gradient, prior_slope, in.scratch);
  curvature_diagonal(evidence.curvature, precision);
  const AdamTerms<T> moments = averages.moments.begin(dimension, in.rates.mean, in.options);
  if (!moments.second) in.q.precision_diagonal(old_precision);
  const NewtonTerms<T> terms = newton_terms<T>(in, moments, averages.moments.next_steps(), prior_slope);
  move_parameters<Update, T>(in, terms, gradient, old_precision, moments, next.mean(), precision);
  Index k = 0;
  for (const auto& [offset, size] : in.q.point_parameters().ranges)
    for (Index i = offset; i < offset + size; ++i, ++k)
      next.mean()[at(i)] =
          in.q.mean()[at(i)] - Update::template point_shift<T>(in, terms, i, gradient[at(i)],
                                                               evidence.point_squares[at(k)], moments);
  fill_point_parameters(in.q.point_parameters(), T(1), precision);
  averages.moments.check("mean", next.mean(), std::numeric_limits<T>::lowest(), in.number);
  averages.moments.check("precision", precision, std::numeric_limits<T>::min(), in.number);
  next.set_diagonal(precision, std::nullopt);
  const bool is_learned = in.options.initial_precision == 0 && in.options.initial_curvature == 0;
  return {1, false, in.is_fresh && is_learned ? 0 : std::max(0.0, 1 - newton_rate(in))};
}

}  // namespace bdl
