// What steps by SGD or Adam have in common: the penalised gradient and the step of the mean.
#pragma once

#include "steps/averages.hpp"

namespace bdl {

/// The gradient of N / scale times the loss per example, minus expected log likelihood plus weight times KL
/// divergence.
template <class T>
struct PenalizedGradient {
  ConstSpan<T> values;
  double weight, scale;
};

template <class T>
PenalizedGradient<T> penalized(const StepInput<T>& in, const Evidence<T>& evidence);

/// Moves the mean down that gradient: `mean` becomes the next one.
template <class T>
void move_mean(const StepInput<T>& in, const PenalizedGradient<T>& gradient, const AdamTerms<T>& terms,
               std::span<T> mean);

/// What is moved of a standard deviation sigma: rho with sigma = exp(rho), log(1 + exp(rho)) or exp(rho / 2).
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

/// Calls function(LogSigma() or another one of the three), as option "scale_parameter" says.
template <class Function>
void with_scale(ScaleParameter parameter, Function&& function) {
  if (parameter == ScaleParameter::softplus) return function(Softplus());
  if (parameter == ScaleParameter::log_variance) return function(LogVariance());
  function(LogSigma());
}

}  // namespace bdl
