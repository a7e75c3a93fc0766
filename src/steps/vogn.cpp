// VOGN (Khan et al. 2018, Algorithm 1; Osawa et al. 2019, Algorithm 1 with momentum, initialisation and
// tempering): with the mean g of the minibatch's gradients and the mean h of their squares, per example and
// at a sample of q,
//
//   m <- beta_1 m + (1 - beta_1) (g + reg (mu - mu_0))      momentum, which includes the prior's gradient
//   s <- (1 - beta_2) s + beta_2 h
//   mu <- mu - alpha m / (s + reg + gamma)
//   Sigma^-1 = N (s + reg + gamma) / tau
//
// Option "momentum_form" has other forms of the first line. newton.hpp has the terms and the loop over the
// parameters.
#include "steps/newton.hpp"

namespace bdl {
namespace {

struct Vogn {
  template <class T>
  static constexpr T least() {
    return 0;
  }
  template <class T>
  static BDL_ALWAYS_INLINE T direction(const NewtonTerms<T>& t, Index i, T old, T slope, T pull, T curvature,
                                       T share, T&, T& m, T& s) {
    m = t.keep * (t.m ? t.m[i] : T(0)) + t.add * (slope + pull);
    s = t.keep_curvature * old + t.curvature_rate * curvature;
    return t.factor * m / (s + share + t.damping);
  }
  /// Returns the step of a point parameter: without a prior, by the average of its squared gradients.
  template <class T>
  static T point_shift(const StepInput<T>& in, const NewtonTerms<T>& t, Index i, T gradient, T square,
                       const AdamTerms<T>& averages) {
    T &m = averages.next_first[i], &s = averages.next_second[i];
    m = t.keep * (t.m ? t.m[i] : T(0)) + t.add * t.each * gradient;
    const T old = t.s ? t.s[i] : t.at_start ? t.initial : T(0);
    T shift = t.rate * t.factor * m;
    s = t.keep_curvature * old + t.curvature_rate * t.each * square;
    shift /= s + static_cast<T>(in.options.point_damping);
    return shift;
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
