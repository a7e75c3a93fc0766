#include <algorithm>
#include <cmath>

#include "likelihood/heteroscedastic.hpp"
#include "likelihood/limited.hpp"
#include "likelihood/special_functions.hpp"
#include "likelihood/student_t.hpp"

namespace bdl {

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

template double Likelihood::misfit(const float*, const float*) const;
template double Likelihood::misfit(const double*, const double*) const;

}  // namespace bdl
