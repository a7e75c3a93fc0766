#include "likelihood/linearized_density.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "likelihood/kinds/heteroscedastic.hpp"
#include "likelihood/kinds/student_t.hpp"
#include "likelihood/limited_rates.hpp"
#include "likelihood/output_nodes.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"

namespace bdl {
namespace {

/// Makes missing targets independent, with density 1 / sqrt(2 pi), and returns the number of the others.
Index leave_out_missing(MatrixView<double> covariance, std::span<double> residual) {
  Index observed = covariance.rows;
  for (Index c = 0; c < covariance.rows; ++c) {
    double& value = residual[static_cast<std::size_t>(c)];
    if (!std::isnan(value)) continue;
    for (Index b = 0; b < covariance.rows; ++b) covariance(b, c) = covariance(c, b) = b == c ? 1 : 0;
    value = 0;
    --observed;
  }
  return observed;
}

/// Returns the log density of residuals with scale S + R: normal, or Student's t if the noise was estimated.
/// It is -infinity if S + R is not positive definite. Overwrites residual and `sum`.
double log_joint_density(const Likelihood& likelihood, ConstMatrixView<double> s, MatrixView<double> sum,
                         MatrixView<double> residual) {
  for (Index c = 0; c < s.cols; ++c) std::ranges::copy(s.column(c), sum.column_data(c));
  add_noise_covariance(likelihood, sum);
  const Index observed = leave_out_missing(sum, residual.column(0));
  if (!cholesky(sum)) return -HUGE_VAL;
  solve_lower_left(Op::none, sum, residual);
  double squares = 0;
  for (const double value : residual.column(0)) squares += value * value;
  const double log_det = log_det_from_cholesky(sum);
  if (likelihood.noise_degrees().empty())
    return -(static_cast<double>(observed) * std::log(2 * std::numbers::pi) + log_det + squares) / 2;
  const double degrees = std::ranges::min(likelihood.noise_degrees());
  return student_t::log_density_at(squares, degrees, observed) - log_det / 2;
}

/// Returns the log density of targets whose noise was estimated, if each has noise of its own: they are
/// independent given x.
double log_student_density(const Likelihood& likelihood, ConstSpan<double> mean, ConstMatrixView<double> s,
                           const double* y) {
  double sum = 0;
  for (Index c = 0; c < s.cols; ++c) {
    if (std::isnan(y[c])) continue;
    const double variance = s(c, c) + 1 / likelihood.noise_precision(c),
                 residual = y[c] - mean[static_cast<std::size_t>(c)];
    sum += student_t::log_density_at(residual * residual / variance, likelihood.noise_degrees(c)) -
           std::log(variance) / 2;
  }
  return sum;
}

}  // namespace

ProbitScale probit_scale(double v) {
  const double scaled = std::numbers::pi * v / 8, kappa = 1 / std::sqrt(1 + scaled);
  return {kappa, std::isinf(scaled) ? 1 : scaled / (1 + scaled) / (1 + kappa)};
}

void probit_logits(ConstSpan<double> mean, ConstMatrixView<double> covariance, double* logits) {
  for (Index c = 0; c < covariance.rows; ++c)
    logits[c] = probit_scale(covariance(c, c)).kappa * mean[static_cast<std::size_t>(c)];
}

void add_noise_covariance(const Likelihood& likelihood, MatrixView<double> s) {
  const NoiseCovariance& noise = likelihood.noise_covariance();
  for (Index c = 0; c < s.rows; ++c)
    if (noise.given())
      for (Index b = 0; b < s.rows; ++b) s(b, c) += noise.covariance()(b, c);
    else
      s(c, c) += 1 / likelihood.noise_precision(c);
}

namespace {

/// As linearized_log_density(), for a row that counts once, or for trials if integrals are by nodes.
template <class T>
double log_density_once(const Likelihood& likelihood, ConstSpan<double> mean,
                        ConstMatrixView<double> covariance, const T* y, Buffer<double>& scratch) {
  const Index outputs = likelihood.outputs();
  double* const target = scratch.first(linearized_density_scratch(outputs)).data();
  double* const other = target + outputs;
  std::transform(y, y + likelihood.targets(), target, [](T value) { return static_cast<double>(value); });
  if (likelihood.integrates_by_nodes()) {
    double sum = 0;
    for (Index c = 0; c < outputs; ++c)
      if (!std::isnan(target[c]))
        sum += log_density_of_normal(likelihood, mean[static_cast<std::size_t>(c)], covariance(c, c),
                                     target[c], likelihood.has_trials() ? likelihood.weight(y) : 1);
    return sum;
  }
  if (likelihood.kind() == BDL_BERNOULLI || likelihood.kind() == BDL_CATEGORICAL) {
    probit_logits(mean, covariance, other);
    return likelihood.log_density(other, target);
  }
  if (likelihood.kind() == BDL_HETEROSCEDASTIC)
    return heteroscedastic::log_predictive_density(likelihood, mean, covariance, target);
  if (likelihood.kind() == BDL_STUDENT_T)
    return student_t::log_predictive_density(likelihood, mean, covariance, target);
  if (likelihood.kind() == BDL_GAUSSIAN && !likelihood.noise_degrees().empty() &&
      !likelihood.noise_covariance().given())
    return log_student_density(likelihood, mean, covariance, target);
  if (likelihood.kind() == BDL_GAUSSIAN) {
    for (Index c = 0; c < outputs; ++c) target[c] -= mean[static_cast<std::size_t>(c)];
    return log_joint_density(likelihood, covariance, {other, outputs, outputs}, {target, outputs, 1});
  }
  double sum = 0;
  for (Index c = 0; c < outputs; ++c) {
    const double m = mean[static_cast<std::size_t>(c)], v = covariance(c, c);
    if (std::isnan(target[c])) continue;
    sum += log_poisson_of_normal(m, v, target[c], likelihood.limit());
  }
  return sum;
}

}  // namespace

template <class T>
double linearized_log_density(const Likelihood& likelihood, ConstSpan<double> mean,
                              ConstMatrixView<double> covariance, const T* y, Buffer<double>& scratch) {
  if (!likelihood.is_weighted()) return log_density_once(likelihood, mean, covariance, y, scratch);
  if (likelihood.weight(y) == 0) return 0;
  const double times = likelihood.has_trials() && likelihood.integrates_by_nodes() ? 1 : likelihood.weight(y);
  return times * log_density_once(likelihood, mean, covariance, y, scratch) + likelihood.log_orders(y);
}

#define BDL_INSTANTIATE(T)                                                                              \
  template double linearized_log_density(const Likelihood&, ConstSpan<double>, ConstMatrixView<double>, \
                                         const T*, Buffer<double>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
