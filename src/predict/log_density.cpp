#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "predict/poisson_lognormal.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// log of the integral of p(y | f) N(f; m, v), which is N(y; m, 1 / tau + v) or Poisson-log-normal.
double log_spread_density(const Likelihood& likelihood, double m, double v, double y) {
  if (likelihood.kind() == BDL_POISSON) return log_poisson_lognormal(m, v, y);
  const double variance = 1 / likelihood.noise_precision(0) + v, residual = y - m;
  return -(std::log(2 * std::numbers::pi * variance) + residual * residual / variance) / 2;
}

/// log sum_k w_k p(y | f_k), scaled by the largest term so far.
double mixture_log_density(const Likelihood& likelihood, const Mixture& mixture, const double* y) {
  if (mixture.spread > 0) return log_spread_density(likelihood, mixture.f(0, 0), mixture.spread, y[0]);
  double top = -infinity, sum = 0;
  for (Index k = 0; k < mixture.components(); ++k) {
    const double term = likelihood.log_density(mixture.f.column_data(k), y);
    if (term > top) {
      sum = sum * std::exp(top - term) + mixture.weight(k);
      top = term;
    } else if (term > -infinity) {
      sum += mixture.weight(k) * std::exp(term - top);
    }
  }
  return top + std::log(sum);
}

/// E[log p(y | f)]; under N(f; m, v) the quadratic term of the Gaussian gains tau v / 2, and E[e^f] = e^{m +
/// v / 2}.
double mixture_expectation(const Likelihood& likelihood, const Mixture& mixture, const double* y) {
  double sum = 0;
  for (Index k = 0; k < mixture.components(); ++k)
    sum += mixture.weight(k) * likelihood.log_density(mixture.f.column_data(k), y);
  if (mixture.spread == 0) return sum;
  return sum - (likelihood.kind() == BDL_GAUSSIAN
                    ? likelihood.noise_precision(0) * mixture.spread / 2
                    : std::exp(mixture.f(0, 0)) * std::expm1(mixture.spread / 2));
}

/// visit(i, mixture, y_i).
template <class T, class Visit>
void visit_targets(const Query<T>& query, const Array& y, Visit visit) {
  std::vector<double> target(static_cast<std::size_t>(y.cols));
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    gather(y, i, MatrixView<double>(target.data(), y.cols, 1));
    visit(i, mixture, target.data());
  });
}

}  // namespace

template <class T>
void predict_log_density(const Query<T>& query, const Array& y, const Array& log_density) {
  check_query(query);
  const Likelihood& likelihood = query.model.likelihood;
  likelihood.check_targets(y, query.x.rows, "y");
  Result result(log_density, query.x.rows, 1, "log_density");
  visit_targets(query, y, [&](Index i, const Mixture& mixture, const double* target) {
    result.row(i)[0] = mixture_log_density(likelihood, mixture, target);
  });
  write_results(result);
}

template <class T>
double expected_log_likelihood(const Query<T>& query, const Array& y) {
  check_query(query);
  const Likelihood& likelihood = query.model.likelihood;
  likelihood.check_targets(y, query.x.rows, "y");
  double sum = 0;
  visit_targets(query, y, [&](Index, const Mixture& mixture, const double* target) {
    sum += mixture_expectation(likelihood, mixture, target);
  });
  if (!std::isfinite(sum)) fail(Status::ERROR_DIVERGED, "the expected log likelihood would be %g", sum);
  return sum;
}

#define BDL_INSTANTIATE(T)                                                        \
  template void predict_log_density(const Query<T>&, const Array&, const Array&); \
  template double expected_log_likelihood(const Query<T>&, const Array&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
