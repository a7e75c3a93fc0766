// The penalised gradient and the step of the mean, which all steps by SGD or Adam share.
#pragma once

#include "steps/averages.hpp"

namespace bdl {

/// The gradient of the loss, which is minus the expected log likelihood plus weight times the KL
/// divergence, divided by `scale`.
template <class T>
struct PenalizedGradient {
  ConstSpan<T> values;
  double weight, scale;
};

/// Number of rows of W that are moved at a time, so that their gradient stays in the cache (elrg.cpp).
inline constexpr Index rows_together = 1 << 15;

/// Returns this gradient for a step; its values may stand in scratch memory.
template <class T>
PenalizedGradient<T> penalized(const StepInput<T>& in, const Evidence<T>& evidence);

/// Writes the next mean, which has moved against that gradient, to `mean`.
template <class T>
void move_mean(const StepInput<T>& in, const PenalizedGradient<T>& gradient, const AdamTerms<T>& terms,
               std::span<T> mean);

/// A standard deviation sigma moves by a parameter rho: sigma = exp(rho) here, log(1 + exp(rho)) in
/// Softplus, exp(rho / 2) in LogVariance.
struct LogSigma {
  template <class T>
  static BDL_ALWAYS_INLINE T slope(T sigma) {  ///< dsigma / drho
    return sigma;
  }
  template <class T>
  static BDL_ALWAYS_INLINE T moved(T sigma, T shift) {  ///< sigma after rho has moved by -shift
    return sigma * std::exp(-shift);
  }
};

struct Softplus {
  template <class T>
  static BDL_ALWAYS_INLINE T slope(T sigma) {
    return -std::expm1(-sigma);
  }
  template <class T>
  static BDL_ALWAYS_INLINE T moved(T sigma, T shift) {
    const T rho = sigma + std::log(slope(sigma)) - shift;
    return std::max(rho, T(0)) + std::log1p(std::exp(-std::abs(rho)));
  }
};

struct LogVariance {
  template <class T>
  static BDL_ALWAYS_INLINE T slope(T sigma) {
    return sigma / 2;
  }
  template <class T>
  static BDL_ALWAYS_INLINE T moved(T sigma, T shift) {
    return sigma * std::exp(-shift / 2);
  }
};

/// Calls function(LogSigma()), or with Softplus() or LogVariance() if option "scale_parameter" says so.
template <class Function>
void with_scale(ScaleParameter parameter, Function&& function) {
  if (parameter == ScaleParameter::softplus) return function(Softplus());
  if (parameter == ScaleParameter::log_variance) return function(LogVariance());
  function(LogSigma());
}

}  // namespace bdl
