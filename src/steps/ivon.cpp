// IVON (Shen et al. 2024, Algorithm 1). The curvature h is estimated from gradients at posterior samples
// and may be negative. A second-order term in the average s keeps the precision positive (the improved
// Bayesian learning rule, Lin et al. 2020):
//
//   m <- beta_1 m + (1 - beta_1) g                                 option "momentum_form": corrected
//   s <- s + beta_2 (h - s) + (beta_2 (h - s))^2 / (2 (s + reg))
//   mu <- mu - alpha (m / (1 - beta_1^t) + reg (mu - mu_0)) / (s + reg + gamma)
//   Sigma^-1 = N (s + reg + gamma) / tau                            gamma: option "damping_in"
//
// The method's default is heavy_ball: m <- beta_1 m + g, without 1 - beta_1^t (methods/schedule.hpp). Option
// "clip" bounds the quotient in the third line, and option "rescale_rate" multiplies alpha by the initial s +
// reg. The precision stays positive while reg does not fall from step to step; if it falls and a precision is
// not positive, the step fails. newton.hpp has the terms and the loop over the parameters.
#include "steps/newton.hpp"

namespace bdl {
namespace {

struct Ivon {
  template <class T>
  static constexpr T least() {
    return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static BDL_ALWAYS_INLINE T direction(const NewtonTerms<T>& t, const NewtonParameter<T>& p, T& m, T& s,
                                       T& length) {
    m = t.keep * p.m + t.add * p.g;
    const T change = t.curvature_rate * (p.h - p.s);
    s = p.s + change + change * change / (2 * (p.s + p.reg));
    const T direction = (t.bias_correction * m + p.prior_slope) / (s + p.reg + t.damping);
    if (t.rescales) length *= t.initial + p.reg;
    return std::clamp(direction, -t.clip, t.clip);
  }
  /// Returns the step of a point parameter, which is SGD's: without noise its curvature cannot be
  /// estimated, and keeps its initial value.
  template <class T>
  static T point_shift(const StepInput<T>&, const NewtonTerms<T>& t, Index i, T gradient, T,
                       const AdamTerms<T>& averages) {
    T &m = averages.next_first[i], &s = averages.next_second[i];
    m = t.keep * t.momentum(i) + t.add * t.per_example * gradient;
    s = t.initial;
    const T shift = t.rate * t.bias_correction * m;
    return t.rescales ? shift : shift / s;
  }
};

}  // namespace

template <class T>
StepResult ivon_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                     Posterior<T>& next) {
  return newton_step<Ivon>(in, evidence, averages, next);
}

template StepResult ivon_step(const StepInput<float>&, const Evidence<float>&, Averages<float>&,
                              Posterior<float>&);
template StepResult ivon_step(const StepInput<double>&, const Evidence<double>&, Averages<double>&,
                              Posterior<double>&);

}  // namespace bdl
