#include <algorithm>
#include <cmath>
#include <functional>

#include "base/interrupt.hpp"
#include "metrics/classification.hpp"
#include "metrics/metrics.hpp"
#include "metrics/pareto.hpp"

namespace bdl {
namespace {

/// Returns the variance with S - 1 in its denominator.
double sample_variance(ConstSpan<double> values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (count - 1);
}

/// Returns log sum_s w_s exp(l_s) for log weights.
double weighted_log_mean(std::span<double> log_weights, ConstSpan<double> logs) {
  for (std::size_t s = 0; s < logs.size(); ++s) log_weights[s] += logs[s];
  return log_sum_exp(log_weights);
}

}  // namespace

/// Row i of the result: elpd_i, p_i, and by leaving out the shape k_i.
PointwiseElpd::PointwiseElpd(const Array& log_likelihood, const OutArray& pointwise, bool by_leaving_out)
    : pointwise_(pointwise) {
  check_numbers(log_likelihood, -1, -1, "log_likelihood");
  const Index draws = log_likelihood.rows, n = log_likelihood.cols, columns = by_leaving_out ? 3 : 2;
  if (draws < 2)
    fail(Status::ERROR_SHAPE, "log_likelihood has %lld rows, expected 2 draws or more",
         static_cast<long long>(draws));
  if (given(pointwise)) check_output(pointwise, n, columns, "pointwise");
  values_.reserve(n * columns);
  rows_ = values_.matrix(columns, n);
  const Array by_row = transposed(log_likelihood);
  Buffer<double> logs_of_row(draws), weights_of_row(draws);
  const auto logs = logs_of_row.first(draws), weights = weights_of_row.first(draws);
  ParetoSmoother smooth(draws);
  in_chunks(n, 64 * draws, [&](Index i) {
    gather(by_row, i, logs_of_row.matrix(draws, 1));
    const double density = log_sum_exp(logs) - std::log(static_cast<double>(draws));
    if (!by_leaving_out) {
      rows_(1, i) = sample_variance(logs);
      rows_(0, i) = density - rows_(1, i);
      return;
    }
    std::ranges::transform(logs, weights.begin(), std::negate<>());
    rows_(2, i) = smooth(weights);
    rows_(0, i) = weighted_log_mean(weights, logs);
    rows_(1, i) = density - rows_(0, i);
  });
}

Elpd PointwiseElpd::sums() const {
  const auto n = static_cast<double>(rows_.cols);
  Elpd sums{0, 0, 0};
  for (Index i = 0; i < rows_.cols; ++i) {
    sums.elpd += rows_(0, i);
    sums.effective_parameters += rows_(1, i);
  }
  double squares = 0;
  for (Index i = 0; i < rows_.cols; ++i) squares += std::pow(rows_(0, i) - sums.elpd / n, 2);
  if (rows_.cols > 1) sums.standard_error = std::sqrt(n * squares / (n - 1));
  return sums;
}

/// Shapes may be infinite, as documented.
void PointwiseElpd::write() const {
  if (given(pointwise_)) write_result<double>(rows_, pointwise_, "pointwise", NonFinite::documented);
}

}  // namespace bdl
