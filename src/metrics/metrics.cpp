#include "metrics/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "metrics/classification.hpp"

namespace bdl {
namespace {

/// Returns the fair CRPS of S draws x: mean_i |x_i - y| - sum_ij |x_i - x_j| / (2 S (S - 1)) (Ferro 2014). In
/// sorted draws, k (S - k) pairs span the k-th gap, which gives the double sum in O(S log S) and without
/// cancellation.
double ensemble_crps(std::span<double> draws, double y) {
  std::ranges::sort(draws);
  const auto count = static_cast<double>(draws.size());
  double distance = 0, between = 0;
  for (const double x : draws) distance += std::abs(x - y);
  for (std::size_t k = 1; k < draws.size(); ++k)
    between += static_cast<double>(k) * (count - static_cast<double>(k)) * (draws[k] - draws[k - 1]);
  return draws.size() == 1 ? distance : (distance - between / (count - 1)) / count;
}

}  // namespace

double rmse(const Array& mean, const Array& y) {
  check_numbers(mean, -1, -1, "mean");
  check_numbers(y, mean.rows, mean.cols, "y");
  double sum = 0;
  in_chunks(y.rows, y.cols, [&](Index i) {
    for (Index j = 0; j < y.cols; ++j) {
      const double error = element(mean, i, j) - element(y, i, j);
      sum += error * error;
    }
  });
  return std::sqrt(sum / static_cast<double>(y.rows) / static_cast<double>(y.cols));
}

MeanEstimate mean_log_predictive_density(const Array& log_density) {
  check_numbers(log_density, -1, 1, "log_density");
  const auto n = static_cast<double>(log_density.rows);
  double sum = 0, squares = 0;
  in_chunks(log_density.rows, 1, [&](Index i) { sum += element(log_density, i, 0); });
  const double mean = sum / n;
  in_chunks(log_density.rows, 1, [&](Index i) {
    const double deviation = element(log_density, i, 0) - mean;
    squares += deviation * deviation;
  });
  return {mean, log_density.rows == 1 ? 0.0 : std::sqrt(squares / (n - 1) / n)};
}

double coverage(const Array& lower, const Array& upper, const Array& y) {
  check_numbers(lower, -1, -1, "lower");
  check_numbers(upper, lower.rows, lower.cols, "upper");
  check_numbers(y, lower.rows, lower.cols, "y");
  Index inside = 0;
  in_chunks(y.rows, y.cols, [&](Index i) {
    for (Index j = 0; j < y.cols; ++j) {
      const double from = element(lower, i, j), to = element(upper, i, j), value = element(y, i, j);
      if (from > to)
        fail(Status::ERROR_INVALID_ARGUMENT,
             "lower is %g above upper %g at row %lld, column %lld (counting from 0)", from, to,
             static_cast<long long>(i), static_cast<long long>(j));
      inside += from <= value && value <= to;
    }
  });
  return static_cast<double>(inside) / static_cast<double>(y.rows) / static_cast<double>(y.cols);
}

double crps(const Array& draws, const Array& y) {
  check_numbers(draws, -1, -1, "draws");
  check_numbers(y, draws.rows, 1, "y");
  std::vector<double> row(static_cast<std::size_t>(draws.cols));
  double sum = 0;
  in_chunks(draws.rows, draws.cols, [&](Index i) {
    gather(draws, i, MatrixView<double>(row.data(), draws.cols, 1));
    sum += ensemble_crps(row, element(y, i, 0));
  });
  return sum / static_cast<double>(draws.rows);
}

}  // namespace bdl
