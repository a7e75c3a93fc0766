// VOGN (Khan et al. 2018, Algorithm 1; Osawa et al. 2019, Algorithm 1, with momentum, initialisation and
// tempering). Let g be the mean of the minibatch's gradients and h the mean of their squares, per example and
// at a sample of q. A step is
//
//   m <- beta_1 m + g + reg (mu - mu_0)          heavy-ball momentum, with the prior's gradient in it
//   s <- (1 - beta_2) s + beta_2 h
//   mu <- mu - alpha m / (s + reg + gamma)
//   Sigma^-1 = N (s + reg + gamma) / tau          gamma: option "damping_in"; tau: option "tempering"
//
// Option "momentum_form" may scale the terms of the first line and correct the bias of m
// (methods/schedule.hpp). newton.hpp has the terms and the loop over the parameters.
#include "steps/newton.hpp"

namespace bdl {
namespace {

struct Vogn {
  template <class T>
  static constexpr T least() {
    return 0;
  }
  template <class T>
  static BDL_ALWAYS_INLINE T direction(const NewtonTerms<T>& t, const NewtonParameter<T>& p, T& m, T& s, T&) {
    m = t.keep * p.m + t.add * (p.g + p.prior_slope);
    s = t.keep_curvature * p.s + t.curvature_rate * p.h;
    return t.bias_correction * m / (s + p.reg + t.damping);
  }
  /// Returns the step of a point parameter: without a prior, by the average of its squared gradients.
  template <class T>
  static T point_shift(const StepInput<T>& in, const NewtonTerms<T>& t, Index i, T gradient, T square,
                       const AdamTerms<T>& averages) {
    T &m = averages.next_first[i], &s = averages.next_second[i];
    const T before = t.s ? t.s[i] : t.at_start ? t.initial : T(0);
    m = t.keep * t.momentum(i) + t.add * t.per_example * gradient;
    s = t.keep_curvature * before + t.curvature_rate * t.per_example * square;
    return t.rate * t.bias_correction * m / (s + static_cast<T>(in.options.point_damping));
  }
};

}  // namespace

template <class T>
StepResult vogn_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                     Posterior<T>& next) {
  return newton_step<Vogn>(in, evidence, averages, next);
}

template StepResult vogn_step(const StepInput<float>&, const Evidence<float>&, Averages<float>&,
                              Posterior<float>&);
template StepResult vogn_step(const StepInput<double>&, const Evidence<double>&, Averages<double>&,
                              Posterior<double>&);

}  // namespace bdl
