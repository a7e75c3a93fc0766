#include "network/activation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <tuple>
#include <utility>

namespace bdl {
namespace {

constexpr const char* spellings[] = {"identity", "relu",    "leaky_relu", "elu",  "gelu",
                                     "tanh",     "sigmoid", "softplus",   "swish"};
static_assert(std::size(spellings) == BDL_SWISH - BDL_IDENTITY + 1);

template <class T>
T logistic(T z) {
  const T e = std::exp(-std::abs(z));  // never overflows
  return z >= 0 ? 1 / (1 + e) : e / (1 + e);
}

template <class T>
T softplus(T z) {
  return std::max(z, T(0)) + std::log1p(std::exp(-std::abs(z)));
}

template <class T>
T normal_cdf(T z) {
  return std::erfc(-z / std::numbers::sqrt2_v<T>) / 2;
}

template <class T>
T normal_density(T z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
}

/// Calls visit(function), where function(z) is the pair phi(z), phi'(z).
template <class T, class Visit>
void with_function(bdl_activation kind, Visit&& visit) {
  using Pair = std::pair<T, T>;
  switch (kind) {
    case BDL_IDENTITY:
      return visit([](T z) { return Pair(z, T(1)); });
    case BDL_RELU:
      return visit([](T z) { return Pair(z < 0 ? T(0) : z, z > 0 ? T(1) : T(0)); });
    case BDL_LEAKY_RELU:
      return visit([](T z) { return Pair(z > 0 ? z : T(0.01) * z, z > 0 ? T(1) : T(0.01)); });
    case BDL_ELU:
      return visit([](T z) { return z > 0 ? Pair(z, T(1)) : Pair(std::expm1(z), std::exp(z)); });
    case BDL_GELU:
      return visit([](T z) { return Pair(z * normal_cdf(z), normal_cdf(z) + z * normal_density(z)); });
    case BDL_TANH:
      return visit([](T z) {
        const T a = std::tanh(z);
        return Pair(a, 1 - a * a);
      });
    case BDL_SIGMOID:
      return visit([](T z) {
        const T a = logistic(z);
        return Pair(a, a * logistic(-z));
      });
    case BDL_SOFTPLUS:
      return visit([](T z) { return Pair(softplus(z), logistic(z)); });
    case BDL_SWISH:
      return visit([](T z) {
        const T s = logistic(z);
        return Pair(z * s, s + z * s * logistic(-z));
      });
    case BDL_ACTIVATION_FORCE_INT32:
      break;
  }
}

/// Calls visit(function), where function(z) is phi''(z). At the kink of a piecewise function, phi'' belongs
/// to the same side as phi'.
template <class T, class Visit>
void with_second_derivative(bdl_activation kind, Visit&& visit) {
  switch (kind) {
    case BDL_IDENTITY:
    case BDL_RELU:
    case BDL_LEAKY_RELU:
      return visit([](T) { return T(0); });
    case BDL_ELU:
      return visit([](T z) { return z > 0 ? T(0) : std::exp(z); });
    case BDL_GELU:
      return visit([](T z) {
        const T density = normal_density(z);
        return density > 0 ? (2 - z * z) * density : density;  // z * z may have overflowed
      });
    case BDL_TANH:
      return visit([](T z) {
        const T a = std::tanh(z);
        return -2 * a * (1 - a * a);
      });
    case BDL_SIGMOID:
      return visit([](T z) {
        const T s = logistic(z), t = logistic(-z);
        return s * t * (t - s);
      });
    case BDL_SOFTPLUS:
      return visit([](T z) { return logistic(z) * logistic(-z); });
    case BDL_SWISH:
      return visit([](T z) {
        const T s = logistic(z), t = logistic(-z);
        return s * t * (2 + z * (t - s));
      });
    case BDL_ACTIVATION_FORCE_INT32:
      break;
  }
}

}  // namespace

std::span<const char* const> activation_words() {
  return spellings;
}

const char* activation_word(bdl_activation activation) {
  return spellings[activation - BDL_IDENTITY];
}

template <class T>
void activate(bdl_activation kind, MatrixView<T> z, MatrixView<T> derivative, MatrixView<T> second) {
  with_second_derivative<T>(kind, [&](auto function) {
    for (Index j = 0; j < z.cols; ++j)
      for (Index i = 0; i < z.rows; ++i) second(i, j) = function(z(i, j));
  });
  activate(kind, z, derivative);
}

template <class T>
void activate(bdl_activation kind, MatrixView<T> z, MatrixView<T> derivative) {
  with_function<T>(kind, [&](auto function) {
    for (Index j = 0; j < z.cols; ++j) {
      T* value = z.column_data(j);
      T* slope = derivative.column_data(j);
      for (Index i = 0; i < z.rows; ++i) std::tie(value[i], slope[i]) = function(value[i]);
    }
  });
}

template <class T>
void activate(bdl_activation kind, MatrixView<T> z) {
  with_function<T>(kind, [&](auto function) {
    for (Index j = 0; j < z.cols; ++j)
      for (T& value : z.column(j)) value = function(value).first;
  });
}

#define BDL_INSTANTIATE(T)                                                             \
  template void activate(bdl_activation, MatrixView<T>, MatrixView<T>, MatrixView<T>); \
  template void activate(bdl_activation, MatrixView<T>, MatrixView<T>);                \
  template void activate(bdl_activation, MatrixView<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
