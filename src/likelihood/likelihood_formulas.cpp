#include <algorithm>
#include <cmath>
#include <numbers>

#include "likelihood/heteroscedastic.hpp"
#include "likelihood/likelihood.hpp"
#include "likelihood/limited_rates.hpp"
#include "likelihood/special_functions.hpp"
#include "likelihood/student_t.hpp"

namespace bdl {
namespace {

double softplus(double z) {
  return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
}

double logistic(double z) {
  const double e = std::exp(-std::abs(z));
  return z >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/// Returns log p(y) of a count; -infinity if the rate overflows.
double log_count_density(double log_rate, double y) {
  const double rate = std::exp(log_rate);
  return std::isinf(rate) ? -HUGE_VAL : y * log_rate - rate - log_factorial(y);
}

/// Returns the second derivative of -log p beyond the limit; it is negative if the rate is too large for y.
double limited_curvature(double output, double y, double limit) {
  const double rate = std::exp(limited(output, limit));
  const Bend bend = bend_at(output, limit);
  return rate * bend.slope * bend.slope + (std::isnan(y) ? 0 : (rate - y) * bend.second);
}

/// Returns sqrt(p (1 - p)) = e^{-|f|/2} / (1 + e^{-|f|}), kept above zero so that gradient / root stays
/// finite.
double bernoulli_root(double f) {
  const double half = std::exp(-std::abs(f) / 2);
  return std::max(half / (1 + half * half), 1e-15);
}

}  // namespace

template <class T>
Index Likelihood::top_class(const T* f) const {
  Index top = -1;
  for (Index k = 0; k < outputs_; ++k)
    if (has_class(k) && (top < 0 || f[k] > f[top])) top = k;
  return top;
}

template <class T>
double Likelihood::normaliser(const T* f) const {
  if (kind_ != BDL_CATEGORICAL) return 0;
  const double top = static_cast<double>(f[top_class(f)]);
  double sum = 0;
  for (Index k = 0; k < outputs_; ++k)
    if (has_class(k)) sum += std::exp(static_cast<double>(f[k]) - top);
  return top + std::log(sum);
}

template <class T>
double Likelihood::class_probability(const T* f, Index c, double normaliser) const {
  return has_class(c) ? std::exp(static_cast<double>(f[c]) - normaliser) : 0;
}

template <class T>
double Likelihood::squared_error(const T* f, const T* y, Index target) const {
  const double residual = static_cast<double>(y[target]) - static_cast<double>(f[target]);
  if (kind_ == BDL_STUDENT_T) return student_t::weight(*this, f, y, target) * residual * residual;
  if (kind_ != BDL_HETEROSCEDASTIC) return residual * residual;
  return residual * residual * heteroscedastic::noise_precision(*this, f, target) / noise_precision(target);
}

template <class T>
double Likelihood::log_density(const T* f, const T* y) const {
  if (kind_ == BDL_HETEROSCEDASTIC) return heteroscedastic::log_density(*this, f, y);
  if (kind_ == BDL_STUDENT_T) return student_t::log_density(*this, f, y);
  if (kind_ == BDL_CATEGORICAL)
    return has_class(static_cast<Index>(y[0]))
               ? static_cast<double>(f[static_cast<Index>(y[0])]) - normaliser(f)
               : -HUGE_VAL;
  if (noise_covariance_.given()) return noise_covariance_.log_density(f, y);
  double sum = 0;
  for (Index c = 0; c < outputs_; ++c) {
    const double output = static_cast<double>(f[c]), target = static_cast<double>(y[c]);
    if (std::isnan(target)) continue;  // missing
    if (kind_ == BDL_GAUSSIAN) {
      const double precision = noise_precision(c), residual = target - output;
      sum += (std::log(precision / (2 * std::numbers::pi)) - precision * residual * residual) / 2;
    } else if (kind_ == BDL_BERNOULLI) {
      sum -= target > 0 && target < 1 ? softplus(output) - target * output
                                      : softplus(target > 0 ? -output : output);
    } else {
      sum += log_count_density(limited(output, limit_), target);
    }
  }
  return sum;
}

template <class T>
double Likelihood::log_orders(const T* y) const {
  if (kind_ != BDL_BERNOULLI || !is_weighted_) return 0;
  const double trials = weight(y);
  double sum = 0;
  for (Index c = 0; c < outputs_; ++c) {
    const double share = static_cast<double>(y[c]);
    if (!std::isnan(share))
      sum += log_factorial(trials) - log_factorial(trials * share) - log_factorial(trials * (1 - share));
  }
  return sum;
}

template <class T>
double Likelihood::misfit(const T* f, const T* y) const {
  if (kind_ == BDL_HETEROSCEDASTIC) return heteroscedastic::misfit(*this, f, y);
  if (kind_ == BDL_STUDENT_T) return student_t::misfit(*this, f, y);
  if (kind_ == BDL_CATEGORICAL || kind_ == BDL_BERNOULLI) return std::max(0.0, -log_density(f, y));
  double sum = 0;
  if (noise_covariance_.given()) {
    for (Index k = 0; k < outputs_; ++k) sum += std::pow(noise_covariance_.whitened_residual(f, y, k), 2) / 2;
    return sum;
  }
  for (Index c = 0; c < outputs_; ++c) {
    const double output = static_cast<double>(f[c]), target = static_cast<double>(y[c]);
    if (std::isnan(target)) continue;  // missing
    sum += kind_ == BDL_POISSON ? std::max(0.0, half_poisson_deviance(limited(output, limit_), target))
                                : noise_precision(c) * std::pow(target - output, 2) / 2;
  }
  return sum;
}

template <class T>
void Likelihood::moments(const T* f, double* mean, double* variance) const {
  if (kind_ == BDL_HETEROSCEDASTIC) return heteroscedastic::moments(*this, f, mean, variance);
  if (kind_ == BDL_STUDENT_T) return student_t::moments(*this, f, mean, variance);
  const double scale = normaliser(f);
  for (Index c = 0; c < outputs_; ++c) {
    const double output = static_cast<double>(f[c]);
    if (kind_ == BDL_GAUSSIAN) {
      mean[c] = output;
      variance[c] = noise_variance(c);
    } else if (kind_ == BDL_POISSON) {
      mean[c] = variance[c] = std::exp(limited(output, limit_));
    } else {
      mean[c] = kind_ == BDL_BERNOULLI ? logistic(output) : class_probability(f, c, scale);
      variance[c] = mean[c] * (1 - mean[c]);
    }
  }
}

template <class T>
void Likelihood::gradient(const T* f, const T* y, T* seed) const {
  if (kind_ == BDL_HETEROSCEDASTIC) return heteroscedastic::gradient(*this, f, y, seed);
  if (kind_ == BDL_STUDENT_T) return student_t::gradient(*this, f, y, seed);
  if (noise_covariance_.given()) {
    for (Index c = 0; c < outputs_; ++c) {
      double slope = 0;
      for (Index k = 0; k < outputs_; ++k)
        slope += hessian_entry(nullptr, c, k) * (static_cast<double>(f[k]) - static_cast<double>(y[k]));
      seed[c] = static_cast<T>(slope);
    }
    return;
  }
  const double scale = normaliser(f);
  for (Index c = 0; c < outputs_; ++c) {
    const double output = static_cast<double>(f[c]);
    double slope = 0;
    switch (kind_) {
      case BDL_GAUSSIAN:
        slope = noise_precision(c) * (output - static_cast<double>(y[c]));
        break;
      case BDL_BERNOULLI:
        slope = logistic(output) - static_cast<double>(y[c]);
        break;
      case BDL_CATEGORICAL:
        slope = class_probability(f, c, scale) - (c == static_cast<Index>(y[0]) ? 1 : 0);
        break;
      default:
        slope =
            (std::exp(limited(output, limit_)) - static_cast<double>(y[c])) * bend_at(output, limit_).slope;
        break;
    }
    const bool missing = kind_ != BDL_CATEGORICAL && std::isnan(y[c]);
    seed[c] = missing ? T(0) : static_cast<T>(slope);
  }
}

template <class T>
void Likelihood::hessian_root(const T* f, const T* y, Index k, T* seed, double* coefficient) const {
  if (kind_ == BDL_HETEROSCEDASTIC)
    return heteroscedastic::information_root(*this, f, y, k, seed, coefficient);
  if (kind_ == BDL_STUDENT_T) return student_t::information_root(*this, f, y, k, seed, coefficient);
  const double output = static_cast<double>(f[k]);
  if (kind_ == BDL_CATEGORICAL) {  // A = diag(sqrt p) - p sqrt(p)^T, z_k = (p_k - y_k) / sqrt(p_k)
    std::fill_n(seed, outputs_, T(0));
    *coefficient = 0;
    if (!has_class(k)) return;
    const double scale = normaliser(f);
    const double p = std::max(std::exp(output - scale), 1e-30), root = std::sqrt(p);
    for (Index c = 0; c < outputs_; ++c)
      if (has_class(c)) seed[c] = static_cast<T>(root * ((c == k ? 1 : 0) - class_probability(f, c, scale)));
    *coefficient = (p - (k == static_cast<Index>(y[0]) ? 1 : 0)) / root;
    return;
  }
  if (noise_covariance_.given()) {  // A = L^-T, z = L^-1 (f - y)
    for (Index c = 0; c < outputs_; ++c) seed[c] = static_cast<T>(noise_covariance_.whitener()(k, c));
    *coefficient = noise_covariance_.whitened_residual(f, y, k);
    return;
  }
  const double target = static_cast<double>(y[k]);
  double root = 0, slope = 0;
  if (kind_ == BDL_GAUSSIAN) {
    root = std::sqrt(noise_precision(k));
    slope = noise_precision(k) * (output - target);
  } else if (kind_ == BDL_BERNOULLI) {
    root = bernoulli_root(output);
    slope = logistic(output) - target;
  } else {
    const double log_rate = limited(output, limit_), bend = bend_at(output, limit_).slope;
    root = std::max(std::exp(log_rate / 2) * bend, 1e-15);
    slope = (std::exp(log_rate) - target) * bend;
  }
  std::fill_n(seed, outputs_, T(0));
  const bool missing = std::isnan(target);
  seed[k] = missing ? T(0) : static_cast<T>(root);
  *coefficient = missing ? 0 : slope / root;
}

template <class T>
void Likelihood::hessian_terms(const T* f, const T* y, double* h) const {
  if (kind_ == BDL_HETEROSCEDASTIC) return heteroscedastic::hessian_terms(*this, f, y, h);
  if (kind_ == BDL_STUDENT_T) return student_t::hessian_terms(*this, f, y, h);
  const double scale = normaliser(f);
  for (Index c = 0; c < outputs_; ++c) {
    const double output = static_cast<double>(f[c]);
    switch (kind_) {
      case BDL_GAUSSIAN:
        h[c] = noise_precision(c);
        break;
      case BDL_BERNOULLI:
        h[c] = logistic(output) * logistic(-output);
        break;
      case BDL_CATEGORICAL:
        h[c] = std::min(class_probability(f, c, scale), 1.0);  // h (1 - h) must not be negative
        break;
      default:
        h[c] =
            output > limit_ ? limited_curvature(output, static_cast<double>(y[c]), limit_) : std::exp(output);
        break;
    }
  }
}

double Likelihood::hessian_entry(const double* h, Index c, Index k) const {
  if (kind_ == BDL_HETEROSCEDASTIC) return heteroscedastic::hessian_entry(*this, h, c, k);
  if (noise_covariance_.given()) return noise_covariance_.precision()(c, k);
  if (kind_ == BDL_CATEGORICAL) return h[c] * ((c == k ? 1 : 0) - h[k]);
  return c == k ? h[c] : 0;
}

template <class T>
void Likelihood::hessian_product(const double* h, const T* v, T* out) const {
  if (noise_covariance_.given() || kind_ == BDL_HETEROSCEDASTIC) {
    for (Index c = 0; c < outputs_; ++c) {
      double sum = 0;
      for (Index k = 0; k < outputs_; ++k) sum += hessian_entry(h, c, k) * static_cast<double>(v[k]);
      out[c] = static_cast<T>(sum);
    }
    return;
  }
  double mean = 0;  // mean of v under the class probabilities
  for (Index c = 0; kind_ == BDL_CATEGORICAL && c < outputs_; ++c) mean += h[c] * static_cast<double>(v[c]);
  for (Index c = 0; c < outputs_; ++c) out[c] = static_cast<T>(h[c] * (static_cast<double>(v[c]) - mean));
}

#define BDL_INSTANTIATE(T)                                                              \
  template Index Likelihood::top_class(const T*) const;                                 \
  template double Likelihood::squared_error(const T*, const T*, Index) const;           \
  template double Likelihood::log_density(const T*, const T*) const;                    \
  template double Likelihood::log_orders(const T*) const;                               \
  template double Likelihood::misfit(const T*, const T*) const;                         \
  template void Likelihood::moments(const T*, double*, double*) const;                  \
  template void Likelihood::gradient(const T*, const T*, T*) const;                     \
  template void Likelihood::hessian_root(const T*, const T*, Index, T*, double*) const; \
  template void Likelihood::hessian_terms(const T*, const T*, double*) const;           \
  template void Likelihood::hessian_product(const double*, const T*, T*) const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
