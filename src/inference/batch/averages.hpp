// One step of the moving averages of gradients, number by number, and of standard deviations by what is moved
// of them.
#pragma once

#include <algorithm>
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

  /// to[i] = from[i] less the shift of parameter number + i, whose gradient is gradient(i). A few at a time,
  /// beside what is read: else compilers fear overlaps and make no vectors.
  template <bool adam, class Gradient>
  BDL_ALWAYS_INLINE void move(Index number, Index count, const T* from, T* to,
                              const Gradient& gradient) const {
    constexpr Index most = 256;
    T m[most], v[most], moved[most];
    for (Index begin = 0; begin < count; begin += most) {
      const Index some = std::min(most, count - begin);
      first ? move_some<adam, true>(number + begin, begin, some, from, gradient, m, v, moved)
            : move_some<adam, false>(number + begin, begin, some, from, gradient, m, v, moved);
      std::copy_n(m, some, next_first + number + begin);
      if constexpr (adam) std::copy_n(v, some, next_second + number + begin);
      std::copy_n(moved, some, to + begin);
    }
  }

 private:
  template <bool adam, bool goes_on, class Gradient>
  BDL_ALWAYS_INLINE void move_some(Index number, Index begin, Index count, const T* from,
                                   const Gradient& gradient, T* m, T* v, T* moved) const {
    for (Index i = 0; i < count; ++i) {
      const T g = gradient(begin + i);
      m[i] = keep * (goes_on ? first[number + i] : T(0)) + add * g;
      T shift = length * m[i];
      if constexpr (adam) {
        v[i] = keep_squares * (goes_on ? second[number + i] : T(0)) + add_squares * g * g;
        shift /= std::sqrt(unbias_squares * v[i]) + epsilon;
      }
      moved[i] = from[begin + i] - shift;
    }
  }
};

}  // namespace bdl
