// IVON (Shen et al. 2024, Algorithm 1). The curvature h is estimated from gradients at posterior samples
// and may be negative. A second-order term in the average s keeps the precision positive (the improved
// Bayesian learning rule, Lin et al. 2020):
//
//   m <- beta_1 m + (1 - beta_1) g
//   s <- s + beta_2 (h - s) + (beta_2 (h - s))^2 / (2 (s + reg))
//   mu <- mu - alpha (m / (1 - beta_1^t) + reg (mu - mu_0)) / (s + reg + gamma)
//   Sigma^-1 = N (s + reg + gamma) / tau
//
// Option "clip" bounds the quotient in the third line, and option "rescale_rate" multiplies alpha by the
// initial s + reg. newton.hpp has the terms and the loop over the parameters.
#include "steps/newton.hpp"

namespace bdl {
namespace {

struct Ivon {
  template <class T>
  static constexpr T least() {
    return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static BDL_ALWAYS_INLINE T direction(const NewtonTerms<T>& t, Index i, T old, T slope, T pull, T curvature,
                                       T share, T& length, T& m, T& s) {
    m = t.keep * (t.m ? t.m[i] : T(0)) + t.add * slope;
    const T change = t.curvature_rate * (curvature - old);
    s = old + change + change * change / (2 * (old + share));
    const T direction = (t.factor * m + pull) / (s + share + t.damping);
    if (t.rescales) length *= t.initial + share;
    return std::clamp(direction, -t.clip, t.clip);
  }
  /// Returns the step of a point parameter, which is SGD's: without noise its curvature cannot be
  /// estimated, and keeps its initial value.
  template <class T>
  static T point_shift(const StepInput<T>&, const NewtonTerms<T>& t, Index i, T gradient, T,
                       const AdamTerms<T>& averages) {
    T &m = averages.next_first[i], &s = averages.next_second[i];
    m = t.keep * (t.m ? t.m[i] : T(0)) + t.add * t.each * gradient;
    T shift = t.rate * t.factor * m;
    s = t.initial;
    if (!t.rescales) shift /= s;
    return shift;
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
