#include <cmath>
#include <limits>

#include "likelihood/expected_loss.hpp"
#include "likelihood/kinds/heteroscedastic.hpp"
#include "likelihood/kinds/student_t.hpp"
#include "likelihood/limited_rates.hpp"
#include "likelihood/linearized_density.hpp"
#include "predict/memory.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns log sum_k w_k p(y | f_k), scaled by the largest term so far, times the weight of the row.
double mixture_log_density(const Likelihood& likelihood, const Mixture& mixture, const double* y,
                           Buffer<double>& scratch) {
  if (likelihood.weight(y) == 0) return 0;
  if (mixture.overflows) return -infinity;
  if (mixture.is_gaussian())
    return linearized_log_density(likelihood, mixture.f.column(0), mixture.covariance, y, scratch);
  const bool has_trials = likelihood.has_trials();  // which all have the same probability
  double top = -infinity, sum = 0;
  for (Index k = 0; k < mixture.components(); ++k) {
    const double* const f = mixture.f.column_data(k);
    const double term = has_trials ? likelihood.weighted_log_density(f, y) : likelihood.log_density(f, y);
    if (term > top) {
      sum = sum * std::exp(top - term) + mixture.weight(k);
      top = term;
    } else if (term > -infinity) {
      sum += mixture.weight(k) * std::exp(term - top);
    }
  }
  const double log_density = top + std::log(sum), weight = has_trials ? 1 : likelihood.weight(y);
  return weight * log_density;
}

bool meets_limit(const Likelihood& likelihood, const Mixture& mixture) {
  for (Index c = 0; c < mixture.f.rows; ++c)
    if (rates_meet_limit(mixture.f(c, 0), mixture.variance(c), likelihood.limit())) return true;
  return false;
}

/// Returns E[log p(y | f)] of counts whose log rates are Gaussian and reach their limit.
double limited_expectation(const Likelihood& likelihood, const Mixture& mixture, const double* y) {
  double sum = 0;
  for (Index c = 0; c < mixture.f.rows; ++c)
    sum += expected_log_poisson(mixture.f(c, 0), mixture.variance(c), y[c], likelihood.limit());
  return sum;
}

/// Returns E[log p(y | f)]. Under N(m, S) the quadratic term of the Gaussian gains tr(R^-1 S) / 2, and E[e^f]
/// is e^{m + v / 2}.
double mixture_expectation(const Likelihood& likelihood, const Mixture& mixture, const double* y) {
  if (mixture.overflows) return -infinity;
  if (mixture.is_gaussian() && likelihood.integrates_by_nodes()) {
    double sum = 0;
    for (Index c = 0; c < mixture.f.rows; ++c)
      sum -= expected_loss(likelihood, mixture.f(c, 0), mixture.variance(c), y[c]).loss;
    return sum;
  }
  if (mixture.is_gaussian() && likelihood.kind() == BDL_HETEROSCEDASTIC)
    return heteroscedastic::expected_log_density(likelihood, mixture.f.column(0), mixture.covariance, y);
  if (mixture.is_gaussian() && likelihood.kind() == BDL_STUDENT_T)
    return student_t::expected_log_density(likelihood, mixture.f.column(0), mixture.covariance, y);
  if (mixture.is_gaussian() && likelihood.kind() == BDL_POISSON && meets_limit(likelihood, mixture))
    return limited_expectation(likelihood, mixture, y);
  double sum = 0;
  for (Index k = 0; k < mixture.components(); ++k)
    sum += mixture.weight(k) * likelihood.log_density(mixture.f.column_data(k), y);
  const NoiseCovariance& noise = likelihood.noise_covariance();
  for (Index c = 0; mixture.is_gaussian() && c < mixture.f.rows; ++c) {
    if (likelihood.kind() != BDL_GAUSSIAN)
      sum -= std::exp(mixture.f(c, 0)) * std::expm1(mixture.variance(c) / 2);
    else if (!noise.given())
      sum -= likelihood.noise_precision(c) * mixture.variance(c) / 2;
    else
      for (Index b = 0; b < mixture.f.rows; ++b)
        sum -= noise.precision()(c, b) * mixture.covariance(b, c) / 2;
  }
  return sum;
}

/// Calls visit(i, mixture, y_i) for each example.
template <class T, class Visit>
void visit_targets(const Query<T>& query, PredictMemory<T>& memory, const Array& y, Visit visit) {
  const auto target = memory.target.matrix(y.cols, 1);
  visit_mixtures(query, [&](Index i, const Mixture& mixture) {
    gather_targets(query.model, y, i, target);
    visit(i, mixture, target.data);
  });
}

}  // namespace

template <class T>
void predict_log_density(const Query<T>& query, const Array& y, const OutArray& log_density) {
  check_query(query);
  const Likelihood& likelihood = query.model.likelihood;
  likelihood.check_targets(y, query.x.rows, "y");
  const double log_scale = query.model.standardization.log_scale();
  const MemoryOf<T> memory(query);
  Result result(memory->results[0], log_density, query.x.rows, 1, "log_density");
  visit_targets(query, *memory, y, [&](Index i, const Mixture& mixture, const double* target) {
    result.row(i)[0] = mixture_log_density(likelihood, mixture, target, memory->numbers) -
                       likelihood.weight(target) * log_scale;
  });
  write_predictions(result);
}

template <class T>
void predict_log_likelihood(const Query<T>& asked, const Array& y, const OutArray& log_likelihood) {
  check_draws(asked.spec.method, "log likelihoods");
  Query<T> query = asked;
  if (query.spec.method == BDL_LINEARIZED) query.spec.method = BDL_LINEARIZED_MONTE_CARLO;
  check_query(query);
  const Likelihood& likelihood = query.model.likelihood;
  likelihood.check_targets(y, query.x.rows, "y");
  const double log_scale = query.model.standardization.log_scale();
  const Index rows = query.x.rows, samples = query.spec.samples;
  if (given(log_likelihood)) check_output(log_likelihood, samples, rows, "log_likelihood");
  const MemoryOf<T> memory(query);
  Result result(memory->results[0], transposed(log_likelihood), rows, samples, "log_likelihood");
  visit_targets(query, *memory, y, [&](Index i, const Mixture& mixture, const double* target) {
    const auto out = result.row(i);
    const bool overflows = mixture.overflows && likelihood.weight(target) > 0;
    for (Index k = 0; k < samples; ++k)
      out[static_cast<std::size_t>(k)] =
          overflows ? -infinity
                    : likelihood.weighted_log_density(mixture.f.column_data(k), target) -
                          likelihood.weight(target) * log_scale;
  });
  write_predictions(result);
}

template <class T>
double expected_log_likelihood(const Query<T>& asked, const Array& y) {
  Query<T> query = asked;
  query.refined = false;
  check_query(query);
  const Likelihood& likelihood = query.model.likelihood;
  if (query.spec.method == BDL_LINEARIZED && has_classes(likelihood) && !likelihood.integrates_by_nodes())
    fail(Status::ERROR_UNSUPPORTED,
         "the probit approximation has no expected log likelihoods: use method linearized_monte_carlo");
  likelihood.check_targets(y, query.x.rows, "y");
  const MemoryOf<T> memory(query);
  double sum = 0, rows = 0;
  visit_targets(query, *memory, y, [&](Index, const Mixture& mixture, const double* target) {
    const double weight = likelihood.weight(target);
    if (weight > 0)
      sum += weight * mixture_expectation(likelihood, mixture, target) + likelihood.log_orders(target);
    rows += weight;
  });
  sum -= rows * query.model.standardization.log_scale();
  if (!std::isfinite(sum))
    fail(Status::ERROR_DIVERGED, "the expected log likelihood is %g, which is not finite", sum);
  return sum;
}

#define BDL_INSTANTIATE(T)                                                              \
  template void predict_log_density(const Query<T>&, const Array&, const OutArray&);    \
  template void predict_log_likelihood(const Query<T>&, const Array&, const OutArray&); \
  template double expected_log_likelihood(const Query<T>&, const Array&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
