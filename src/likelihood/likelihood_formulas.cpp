#include "likelihood/formulas.hpp"
#include "likelihood/likelihood.hpp"
#include "likelihood/special_functions.hpp"

namespace bdl {

template <class T>
Index Likelihood::top_class(const T* f) const {
  if (target_kind() == TargetKind::level) {
    T top = 0;
    for (Index k = 1; k < levels(); ++k)
      if (const T level = static_cast<T>(k); log_density(f, &level) > log_density(f, &top)) top = level;
    return static_cast<Index>(top);
  }
  Index top = -1;
  for (Index k = 0; k < outputs_; ++k)
    if (has_class(k) && (top < 0 || f[k] > f[top])) top = k;
  return top;
}

template <class T>
double Likelihood::squared_error(const T* f, const T* y, Index target) const {
  return with_formulas(*this, [&](auto formulas) { return formulas.squared_error(*this, f, y, target); });
}

template <class T>
double Likelihood::log_density(const T* f, const T* y) const {
  return with_formulas(*this, [&](auto formulas) { return formulas.log_density(*this, f, y); });
}

template <class T>
double Likelihood::log_orders(const T* y) const {
  if (!has_trials()) return 0;
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
  return with_formulas(*this, [&](auto formulas) { return formulas.misfit(*this, f, y); });
}

template <class T>
void Likelihood::moments(const T* f, double* mean, double* variance) const {
  with_formulas(*this, [&](auto formulas) { formulas.moments(*this, f, mean, variance); });
}

template <class T>
void Likelihood::gradient(const T* f, const T* y, T* seed) const {
  with_formulas(*this, [&](auto formulas) { formulas.gradient(*this, f, y, seed); });
}

template <class T>
void Likelihood::hessian_root(const T* f, const T* y, Index k, T* seed, double* coefficient) const {
  with_formulas(*this, [&](auto formulas) { formulas.hessian_root(*this, f, y, k, seed, coefficient); });
}

template <class T>
void Likelihood::hessian_terms(const T* f, const T* y, double* h) const {
  with_formulas(*this, [&](auto formulas) { formulas.hessian_terms(*this, f, y, h); });
}

double Likelihood::hessian_entry(const double* h, Index c, Index k) const {
  return with_formulas(*this, [&](auto formulas) { return formulas.hessian_entry(*this, h, c, k); });
}

template <class T>
void Likelihood::hessian_product(const double* h, const T* v, T* out) const {
  with_formulas(*this, [&](auto formulas) { formulas.hessian_product(*this, h, v, out); });
}

double Likelihood::information(const double* f, Index c) const {
  return with_formulas(*this, [&](auto formulas) { return formulas.information(*this, f, c); });
}

double Likelihood::curvature_bound() const {
  return with_formulas(*this, [&](auto formulas) { return formulas.curvature_bound(*this); });
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
