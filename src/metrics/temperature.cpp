#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "metrics/classification.hpp"
#include "metrics/metrics.hpp"

namespace bdl {
namespace {

constexpr double limit = 1000;  ///< limit of T and 1 / T

void check_logits(const Array& logits) {
  check_numbers(logits, -1, -1, "logits");
  if (logits.cols < 2) fail(Status::ERROR_SHAPE, "logits has 1 column, expected at least 2");
}

double largest(const Array& logits, Index i) {
  double most = element(logits, i, 0);
  for (Index k = 1; k < logits.cols; ++k) most = std::max(most, element(logits, i, k));
  return most;
}

/// First and second derivative of sum_i log sum_k exp(beta z_ik) - beta z_iy with respect to beta = 1 / T:
/// the sums of E_p[z] - z_y and of Var_p[z]. z is relative to the row's largest number.
struct Slope {
  double first = 0, second = 0;
};

Slope slope_at(const Array& logits, const Array& y, double beta) {
  Slope slope;
  in_chunks(logits.rows, logits.cols, [&](Index i) {
    const double most = largest(logits, i);
    double weights = 0, sum = 0, squares = 0;
    for (Index k = 0; k < logits.cols; ++k) {
      const double z = element(logits, i, k) - most, weight = std::exp(beta * z);
      weights += weight;
      if (weight > 0) {
        sum += weight * z;
        squares += weight * z * z;
      }
    }
    const double mean = sum / weights;
    slope.first += mean - (element(logits, i, static_cast<Index>(element(y, i, 0))) - most);
    slope.second += squares / weights - mean * mean;
  });
  return slope;
}

}  // namespace

/// The slope grows with beta, so its root is bracketed. Newton's method finds it; log beta is bisected if a
/// step leaves the bracket or is not halved. (NLopt's tolerance of values would lose half of the digits.)
double fit_temperature(const Array& logits, const Array& y) {
  check_logits(logits);
  check_labels(y, logits.rows, logits.cols);
  double low = 1 / limit, high = limit, beta = 1, last_step = high - low;
  if (const Slope flat = slope_at(logits, y, 0); flat.first == 0 && flat.second == 0) return 1;
  if (slope_at(logits, y, high).first <= 0) return 1 / limit;  // checked first, as far margins underflow to 0
  if (slope_at(logits, y, low).first >= 0) return limit;
  for (int step = 0; step < 200; ++step) {
    const Slope slope = slope_at(logits, y, beta);
    (slope.first < 0 ? low : high) = beta;
    double next = beta - slope.first / slope.second;
    if (!(next > low && next < high) || std::abs(next - beta) > last_step / 2) next = std::sqrt(low * high);
    last_step = std::abs(next - beta);
    beta = next;
    if (last_step <= 1e-12 * beta) break;
  }
  return 1 / beta;
}

void apply_temperature(const Array& logits, double temperature, const OutArray& log_probabilities) {
  if (!(temperature > 0) || !std::isfinite(temperature))
    fail(Status::ERROR_INVALID_ARGUMENT, "temperature is %g, expected a number above 0", temperature);
  check_logits(logits);
  check_output(log_probabilities, logits.rows, logits.cols, "log_probabilities");
  Buffer<double> memory(logits.rows * logits.cols);
  const auto rows = memory.matrix(logits.cols, logits.rows);
  in_chunks(logits.rows, logits.cols, [&](Index i) {
    const double most = largest(logits, i);
    double sum = 0;
    for (Index k = 0; k < logits.cols; ++k) {
      rows(k, i) = (element(logits, i, k) - most) / temperature;
      sum += std::exp(rows(k, i));
    }
    for (Index k = 0; k < logits.cols; ++k)
      if (!std::isfinite(rows(k, i) -= std::log(sum)))
        fail(Status::ERROR_DIVERGED,
             "log_probabilities would not be finite at row %lld, column %lld (counting from 0)",
             static_cast<long long>(i), static_cast<long long>(k));
  });
  write_result<double>(rows, log_probabilities, "log_probabilities");
}

}  // namespace bdl
