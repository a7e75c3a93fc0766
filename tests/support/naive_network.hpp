// A multilayer perceptron one example at a time in plain loops, in the layout of include/bdl/model.h.
#pragma once

#include <cmath>
#include <vector>

#include "bdl/model.h"
#include "support/dense.hpp"

namespace bdl::testing {

inline double phi(bdl_activation kind, double z) {
  switch (kind) {
    case BDL_RELU:
      return z > 0 ? z : 0;
    case BDL_LEAKY_RELU:
      return z > 0 ? z : 0.01 * z;
    case BDL_ELU:
      return z > 0 ? z : std::exp(z) - 1;
    case BDL_GELU:
      return z / 2 * (1 + std::erf(z / std::sqrt(2.0)));
    case BDL_TANH:
      return std::tanh(z);
    case BDL_SIGMOID:
      return 1 / (1 + std::exp(-z));
    case BDL_SOFTPLUS:
      return std::log(1 + std::exp(z));
    case BDL_SWISH:
      return z / (1 + std::exp(-z));
    default:
      return z;
  }
}

/// phi', by formulas other than those of the library where there are any.
inline double phi_slope(bdl_activation kind, double z) {
  const double s = 1 / (1 + std::exp(-z));
  switch (kind) {
    case BDL_RELU:
      return z > 0 ? 1 : 0;
    case BDL_LEAKY_RELU:
      return z > 0 ? 1 : 0.01;
    case BDL_ELU:
      return z > 0 ? 1 : std::exp(z);
    case BDL_GELU:
      return (1 + std::erf(z / std::sqrt(2.0))) / 2 +
             z * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    case BDL_TANH:
      return 1 / (std::cosh(z) * std::cosh(z));
    case BDL_SIGMOID:
      return s * (1 - s);
    case BDL_SOFTPLUS:
      return s;
    case BDL_SWISH:
      return s * (1 + z * (1 - s));
    default:
      return 1;
  }
}

struct NaiveNetwork {
  std::vector<Index> sizes;
  bdl_activation activation;
  bool bias;

  Index layers() const { return static_cast<Index>(sizes.size()) - 1; }
  Index width(Index l) const { return sizes[static_cast<std::size_t>(l)]; }
  /// Where layer l's weights begin; its bias follows them.
  Index offset(Index l) const {
    Index at = 0;
    for (Index k = 0; k < l; ++k) at += width(k + 1) * (width(k) + (bias ? 1 : 0));
    return at;
  }
  Index bias_offset(Index l) const { return offset(l) + width(l + 1) * width(l); }
  Index parameters() const { return offset(layers()); }

  /// z_l = W_l a_l + b_l for every layer l; a_0 = x.
  std::vector<Dense> affine_values(const Dense& theta, const Dense& x) const {
    std::vector<Dense> z;
    Dense a = x;
    for (Index l = 0; l < layers(); ++l) {
      z.emplace_back(width(l + 1), 1);
      for (Index o = 0; o < width(l + 1); ++o) {
        double sum = bias ? theta(bias_offset(l) + o, 0) : 0;
        for (Index i = 0; i < width(l); ++i) sum += theta(offset(l) + o * width(l) + i, 0) * a(i, 0);
        z.back()(o, 0) = sum;
      }
      a = z.back();
      for (double& value : a.values) value = phi(activation, value);
    }
    return z;
  }
  Dense outputs(const Dense& theta, const Dense& x) const { return affine_values(theta, x).back(); }

  /// sum_c seed_c df_c / dtheta.
  Dense row(const Dense& theta, const Dense& x, const Dense& seed) const {
    const auto z = affine_values(theta, x);
    Dense out(parameters(), 1), e = seed;
    for (Index l = layers() - 1; l >= 0; --l) {
      Dense a = l == 0 ? x : z[static_cast<std::size_t>(l - 1)], inner(width(l), 1);
      for (Index i = 0; l > 0 && i < width(l); ++i) a(i, 0) = phi(activation, a(i, 0));
      for (Index o = 0; o < width(l + 1); ++o) {
        for (Index i = 0; i < width(l); ++i) {
          out(offset(l) + o * width(l) + i, 0) = e(o, 0) * a(i, 0);
          inner(i, 0) += theta(offset(l) + o * width(l) + i, 0) * e(o, 0);
        }
        if (bias) out(bias_offset(l) + o, 0) = e(o, 0);
      }
      for (Index i = 0; l > 0 && i < width(l); ++i)
        inner(i, 0) *= phi_slope(activation, z[static_cast<std::size_t>(l - 1)](i, 0));
      e = inner;
    }
    return out;
  }
};

}  // namespace bdl::testing
