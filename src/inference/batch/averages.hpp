// One step of the moving averages of gradients, number by number, and of standard deviations by what is moved
// of them.
#pragma once

#include <cmath>

#include "inference/batch/first_order.hpp"

namespace bdl {

inline bool is_adam(const Options& options) {
  return options.descent == DescentOption::adam;
}

struct LogSigma {
  template <class T>
  static BDL_ALWAYS_INLINE T slope(T sigma) {
    return sigma;
  }
  /// sigma after rho has moved by -shift.
  template <class T>
  static BDL_ALWAYS_INLINE T moved(T sigma, T shift) {
    return sigma * std::exp(-shift);
  }
};

struct Softplus {
  /// sigma = log(1 + exp(rho)), so dsigma / drho = 1 - exp(-sigma).
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

/// function(the type of what is moved).
template <class Function>
void with_scale(ScaleParameter parameter, Function&& function) {
  if (parameter == ScaleParameter::softplus) return function(Softplus());
  if (parameter == ScaleParameter::log_variance) return function(LogVariance());
  function(LogSigma());
}

/// One step of the averages; those before it are null where a new course begins.
template <class T>
struct FirstOrder<T>::Averages {
  const T *first, *second;
  T *next_first, *next_second;
  T length, keep, add, keep_squares, add_squares, unbias_squares, epsilon;

  /// How far parameter i goes against its gradient g.
  template <bool adam>
  BDL_ALWAYS_INLINE T shift(Index i, T g) const {
    const T m = keep * (first ? first[i] : T(0)) + add * g;
    next_first[i] = m;
    if constexpr (!adam) return length * m;
    const T v = keep_squares * (second ? second[i] : T(0)) + add_squares * g * g;
    next_second[i] = v;
    return length * m / (std::sqrt(unbias_squares * v) + epsilon);
  }
};

}  // namespace bdl
