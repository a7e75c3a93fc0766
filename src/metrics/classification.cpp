#include "metrics/classification.hpp"

#include <cmath>

#include "base/loop_turns.hpp"
#include "metrics/metrics.hpp"

namespace bdl {
namespace {

/// What rounding to single precision may do to one probability and to the sum of a row.
constexpr double range_tolerance = 1e-6, sum_tolerance = 1e-4;

}  // namespace

void check_numbers(const Array& array, Index rows, Index cols, const char* name) {
  check_shape(array, rows, cols, name);
  check_finite(array, name);
}

void check_labels(const Array& y, Index rows, Index classes) {
  check_numbers(y, rows, 1, "y");
  LoopTurns turn;
  for (Index i = 0; i < rows; ++i) {
    turn();
    if (const double label = element(y, i, 0);
        label != std::floor(label) || label < 0 || label >= static_cast<double>(classes))
      fail(Status::ERROR_LABEL, "y is %g at row %lld (counting from 0), expected a class number 0 to %lld",
           label, static_cast<long long>(i), static_cast<long long>(classes - 1));
  }
}

ClassProbabilities::ClassProbabilities(const Array& array, const char* name) : array_(array) {
  check_numbers(array, -1, -1, name);
  LoopTurns turn;
  for (Index i = 0; i < array.rows; ++i) {
    turn(array.cols);
    double sum = 0;
    for (Index k = 0; k < array.cols; ++k) {
      const double p = element(array, i, k);
      if (p < -range_tolerance || p > 1 + range_tolerance)
        fail(Status::ERROR_INVALID_ARGUMENT,
             "%s is %g at row %lld, column %lld (counting from 0), expected [0, 1]", name, p,
             static_cast<long long>(i), static_cast<long long>(k));
      sum += p;
    }
    if (array.cols > 1 && std::abs(sum - 1) > sum_tolerance)
      fail(Status::ERROR_INVALID_ARGUMENT, "%s has sum %g in row %lld (counting from 0), expected 1", name,
           sum, static_cast<long long>(i));
  }
}

Index ClassProbabilities::most_probable(Index i) const {
  Index best = 0;
  for (Index k = 1; k < classes(); ++k)
    if ((*this)(i, k) > (*this)(i, best)) best = k;
  return best;
}

double ClassProbabilities::entropy(Index i) const {
  double sum = 0;
  for (Index k = 0; k < classes(); ++k)
    if (const double p = (*this)(i, k); p > 0) sum -= p * std::log(p);
  return sum;
}

double accuracy(const Array& probabilities, const Array& y) {
  const Classification data(probabilities, y);
  Index hits = 0;
  LoopTurns turn;
  for (Index i = 0; i < data.examples(); ++i) {
    turn(data.probabilities.classes());
    hits += data.is_right(i);
  }
  return static_cast<double>(hits) / static_cast<double>(data.examples());
}

double brier_score(const Array& probabilities, const Array& y) {
  const Classification data(probabilities, y);
  double sum = 0;
  LoopTurns turn;
  for (Index i = 0; i < data.examples(); ++i) {
    turn(data.probabilities.classes());
    for (Index k = 0; k < data.probabilities.classes(); ++k) {
      const double error = data.probabilities(i, k) - (k == data.label(i) ? 1.0 : 0.0);
      sum += error * error;
    }
  }
  return sum / static_cast<double>(data.examples());
}

double negative_log_likelihood(const Array& probabilities, const Array& y) {
  const Classification data(probabilities, y);
  double sum = 0;
  LoopTurns turn;
  for (Index i = 0; i < data.examples(); ++i) {
    turn();
    const double p = data.probabilities(i, data.label(i));
    if (p == 0)
      fail(Status::ERROR_DIVERGED,
           "probabilities gives the label %lld of row %lld (counting from 0) the probability 0",
           static_cast<long long>(data.label(i)), static_cast<long long>(i));
    sum -= std::log(p);
  }
  return sum / static_cast<double>(data.examples());
}

}  // namespace bdl
