#include "metrics/classification.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/interrupt.hpp"
#include "metrics/metrics.hpp"

namespace bdl {
namespace {

/// Effect of rounding to single precision on one probability and on the sum of a row.
constexpr double range_tolerance = 1e-6, sum_tolerance = 1e-4;

}  // namespace

void check_numbers(const Array& array, Index rows, Index cols, const char* name) {
  check_shape(array, rows, cols, name);
  check_finite(array, name);
}

void check_labels(const Array& y, Index rows, Index classes) {
  check_numbers(y, rows, 1, "y");
  in_chunks(rows, 1, [&](Index i) {
    if (const double label = element(y, i, 0);
        label != std::floor(label) || label < 0 || label >= static_cast<double>(classes))
      fail(Status::ERROR_LABEL, "y is %g at row %lld (counting from 0), expected a class number 0 to %lld",
           label, static_cast<long long>(i), static_cast<long long>(classes - 1));
  });
}

ClassProbabilities::ClassProbabilities(const Array& array, const char* name) : array_(array) {
  check_numbers(array, -1, -1, name);
  in_chunks(array.rows, array.cols, [&](Index i) {
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
  });
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
  in_chunks(data.examples(), data.probabilities.classes(), [&](Index i) { hits += data.is_right(i); });
  return static_cast<double>(hits) / static_cast<double>(data.examples());
}

double brier_score(const Array& probabilities, const Array& y) {
  const Classification data(probabilities, y);
  double sum = 0;
  in_chunks(data.examples(), data.probabilities.classes(), [&](Index i) {
    for (Index k = 0; k < data.probabilities.classes(); ++k) {
      const double error = data.probabilities(i, k) - (k == data.label(i) ? 1.0 : 0.0);
      sum += error * error;
    }
  });
  return sum / static_cast<double>(data.examples());
}

double negative_log_likelihood(const Array& probabilities, const Array& y) {
  const Classification data(probabilities, y);
  double sum = 0;
  in_chunks(data.examples(), 1, [&](Index i) {
    const double p = data.probabilities(i, data.label(i));
    if (p == 0)
      fail(Status::ERROR_DIVERGED,
           "probabilities gives probability 0 to label %lld of row %lld (counting from 0): the score is "
           "infinite",
           static_cast<long long>(data.label(i)), static_cast<long long>(i));
    sum -= std::log(p);
  });
  return sum / static_cast<double>(data.examples());
}

namespace {

/// Returns the bin of a fraction: bin b of B, from 1, has ((b - 1) / B, b / B], the first also 0. The product
/// alone would put 0.07 of 100 bins above its edge. A double, as B may be any number.
double bin_of(double fraction, double bins) {
  double bin = std::ceil(fraction * bins);
  if (fraction <= (bin - 1) / bins)
    --bin;
  else if (fraction > bin / bins)
    ++bin;
  return std::clamp(bin, 1.0, bins);
}

std::size_t index_of(double fraction, Index bins) {
  return static_cast<std::size_t>(bin_of(fraction, static_cast<double>(bins))) - 1;
}

}  // namespace

double expected_calibration_error(const Array& probabilities, const Array& y, Index bins) {
  if (bins < 1)
    fail(Status::ERROR_INVALID_ARGUMENT, "bins is %lld, expected at least 1", static_cast<long long>(bins));
  const Classification data(probabilities, y);
  // n_b (accuracy_b - confidence_b) of the bins in use, so that memory does not depend on the number of bins.
  std::map<double, double> excess;
  in_chunks(data.examples(), data.probabilities.classes(), [&](Index i) {
    const double confidence = data.probabilities.confidence(i);
    excess[bin_of(confidence, static_cast<double>(bins))] += (data.is_right(i) ? 1.0 : 0.0) - confidence;
  });
  double sum = 0;
  for (const auto& [bin, value] : excess) sum += std::abs(value);
  return sum / static_cast<double>(data.examples());
}

void calibration_curve(const Array& probabilities, const Array& y, const OutArray& curve) {
  const Classification data(probabilities, y);
  check_output(curve, -1, 3, "curve");
  Buffer<double> memory(3 * curve.rows);
  const auto bins = memory.matrix(3, curve.rows);
  std::ranges::fill(memory.first(3 * curve.rows), 0.0);
  in_chunks(data.examples(), data.probabilities.classes(), [&](Index i) {
    const double confidence = data.probabilities.confidence(i);
    const auto bin = static_cast<Index>(index_of(confidence, curve.rows));
    bins(0, bin) += 1;
    bins(1, bin) += data.is_right(i) ? 1 : 0;
    bins(2, bin) += confidence;
  });
  for (Index bin = 0; bin < curve.rows; ++bin)  // 0 / 0 is NaN, as documented
    for (Index sum = 1; sum < 3; ++sum) bins(sum, bin) /= bins(0, bin);
  write_result<double>(bins, curve, "curve", NonFinite::documented);
}

void entropies(const Array& probabilities, const OutArray& entropy) {
  const ClassProbabilities p(probabilities);
  check_output(entropy, p.examples(), 1, "entropy");
  Buffer<double> values(p.examples());
  in_chunks(p.examples(), p.classes(), [&](Index i) { values.data()[i] = p.entropy(i); });
  write_result<double>(values.matrix(1, p.examples()), entropy, "entropy");
}

void entropy_histogram(const Array& probabilities, const OutArray& counts) {
  const ClassProbabilities p(probabilities);
  check_output(counts, -1, 1, "counts");
  Buffer<double> values(counts.rows);
  std::ranges::fill(values.first(counts.rows), 0.0);
  const double largest = std::log(static_cast<double>(p.classes()));
  in_chunks(p.examples(), p.classes(),
            [&](Index i) { values.data()[index_of(p.entropy(i) / largest, counts.rows)] += 1; });
  write_result<double>(values.matrix(1, counts.rows), counts, "counts");
}

}  // namespace bdl
