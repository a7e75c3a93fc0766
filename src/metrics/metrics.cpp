#include "metrics/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

namespace bdl {
namespace {

/// What rounding to single precision may do to one probability and to the sum of a row.
constexpr double range_tolerance = 1e-6, sum_tolerance = 1e-4;

void check_numbers(const Array& array, Index rows, Index cols, const char* name) {
  check_shape(array, rows, cols, name);
  check_finite(array, name);
}

void check_probabilities(const Array& probabilities) {
  check_numbers(probabilities, -1, -1, "probabilities");
  for (Index i = 0; i < probabilities.rows; ++i) {
    double sum = 0;
    for (Index k = 0; k < probabilities.cols; ++k) {
      const double p = element(probabilities, i, k);
      if (p < -range_tolerance || p > 1 + range_tolerance)
        fail(Status::ERROR_INVALID_ARGUMENT, "probabilities is %g at row %lld, column %lld, expected [0, 1]",
             p, static_cast<long long>(i), static_cast<long long>(k));
      sum += p;
    }
    if (probabilities.cols > 1 && std::abs(sum - 1) > sum_tolerance)
      fail(Status::ERROR_INVALID_ARGUMENT, "probabilities has sum %g in row %lld, expected 1", sum,
           static_cast<long long>(i));
  }
}

void check_labels(const Array& y, Index rows, Index classes) {
  check_numbers(y, rows, 1, "y");
  for (Index i = 0; i < rows; ++i)
    if (const double label = element(y, i, 0);
        label != std::floor(label) || label < 0 || label >= static_cast<double>(classes))
      fail(Status::ERROR_LABEL, "y is %g at row %lld, expected a class number 0 to %lld", label,
           static_cast<long long>(i), static_cast<long long>(classes - 1));
}

/// Class probabilities and labels after their checks; one column P(y = 1) reads as two classes.
struct Classification {
  const Array &probabilities, &y;
  Index examples, classes;

  Classification(const Array& probabilities_, const Array& y_)
      : probabilities(probabilities_),
        y(y_),
        examples(probabilities_.rows),
        classes(std::max<Index>(probabilities_.cols, 2)) {
    check_probabilities(probabilities);
    check_labels(y, examples, classes);
  }

  double probability(Index i, Index k) const {
    const bool one_column = probabilities.cols == 1;
    const double p = std::clamp(element(probabilities, i, one_column ? 0 : k), 0.0, 1.0);
    return one_column && k == 0 ? 1 - p : p;
  }
  Index label(Index i) const { return static_cast<Index>(element(y, i, 0)); }
  Index most_probable(Index i) const {
    Index best = 0;
    for (Index k = 1; k < classes; ++k)
      if (probability(i, k) > probability(i, best)) best = k;
    return best;
  }
};

/// Fair CRPS of S draws x: mean_i |x_i - y| - sum_ij |x_i - x_j| / (2 S (S - 1)) (Ferro 2014). Sorted, the
/// pairs whose distance spans the k-th gap number k (S - k): O(S log S), and no cancellation within the
/// double sum.
double ensemble_crps(std::span<double> draws, double y) {
  std::sort(draws.begin(), draws.end());
  const auto count = static_cast<double>(draws.size());
  double distance = 0, spread = 0;
  for (const double x : draws) distance += std::abs(x - y);
  for (std::size_t k = 1; k < draws.size(); ++k)
    spread += static_cast<double>(k) * (count - static_cast<double>(k)) * (draws[k] - draws[k - 1]);
  return draws.size() == 1 ? distance : (distance - spread / (count - 1)) / count;
}

}  // namespace

double rmse(const Array& mean, const Array& y) {
  check_numbers(mean, -1, -1, "mean");
  check_numbers(y, mean.rows, mean.cols, "y");
  double sum = 0;
  for (Index i = 0; i < y.rows; ++i)
    for (Index j = 0; j < y.cols; ++j) {
      const double error = element(mean, i, j) - element(y, i, j);
      sum += error * error;
    }
  return std::sqrt(sum / static_cast<double>(y.rows) / static_cast<double>(y.cols));
}

MeanEstimate mean_log_predictive_density(const Array& log_density) {
  check_numbers(log_density, -1, 1, "log_density");
  const auto n = static_cast<double>(log_density.rows);
  double sum = 0, squares = 0;
  for (Index i = 0; i < log_density.rows; ++i) sum += element(log_density, i, 0);
  const double mean = sum / n;
  for (Index i = 0; i < log_density.rows; ++i) {
    const double deviation = element(log_density, i, 0) - mean;
    squares += deviation * deviation;
  }
  return {mean, log_density.rows == 1 ? 0.0 : std::sqrt(squares / (n - 1) / n)};
}

double accuracy(const Array& probabilities, const Array& y) {
  const Classification data(probabilities, y);
  Index hits = 0;
  for (Index i = 0; i < data.examples; ++i) hits += data.most_probable(i) == data.label(i);
  return static_cast<double>(hits) / static_cast<double>(data.examples);
}

double brier_score(const Array& probabilities, const Array& y) {
  const Classification data(probabilities, y);
  double sum = 0;
  for (Index i = 0; i < data.examples; ++i)
    for (Index k = 0; k < data.classes; ++k) {
      const double error = data.probability(i, k) - (k == data.label(i) ? 1.0 : 0.0);
      sum += error * error;
    }
  return sum / static_cast<double>(data.examples);
}

double expected_calibration_error(const Array& probabilities, const Array& y, Index bins) {
  if (bins < 1)
    fail(Status::ERROR_INVALID_ARGUMENT, "bins is %lld, expected at least 1", static_cast<long long>(bins));
  const Classification data(probabilities, y);
  // n_b (accuracy_b - confidence_b) of the bins in use: the memory does not depend on the caller's number.
  std::map<double, double> excess;
  for (Index i = 0; i < data.examples; ++i) {
    const Index best = data.most_probable(i);
    const double confidence = data.probability(i, best);
    excess[std::ceil(confidence * static_cast<double>(bins))] +=
        (best == data.label(i) ? 1.0 : 0.0) - confidence;
  }
  double sum = 0;
  for (const auto& [bin, value] : excess) sum += std::abs(value);
  return sum / static_cast<double>(data.examples);
}

double coverage(const Array& lower, const Array& upper, const Array& y) {
  check_numbers(lower, -1, -1, "lower");
  check_numbers(upper, lower.rows, lower.cols, "upper");
  check_numbers(y, lower.rows, lower.cols, "y");
  Index inside = 0;
  for (Index i = 0; i < y.rows; ++i)
    for (Index j = 0; j < y.cols; ++j) {
      const double from = element(lower, i, j), to = element(upper, i, j), value = element(y, i, j);
      if (from > to)
        fail(Status::ERROR_INVALID_ARGUMENT, "lower is %g above upper %g at row %lld, column %lld", from, to,
             static_cast<long long>(i), static_cast<long long>(j));
      inside += from <= value && value <= to;
    }
  return static_cast<double>(inside) / static_cast<double>(y.rows) / static_cast<double>(y.cols);
}

double crps(const Array& draws, const Array& y) {
  check_numbers(draws, -1, -1, "draws");
  check_numbers(y, draws.rows, 1, "y");
  std::vector<double> row(static_cast<std::size_t>(draws.cols));
  double sum = 0;
  for (Index i = 0; i < draws.rows; ++i) {
    gather(draws, i, MatrixView<double>(row.data(), draws.cols, 1));
    sum += ensemble_crps(row, element(y, i, 0));
  }
  return sum / static_cast<double>(draws.rows);
}

}  // namespace bdl
