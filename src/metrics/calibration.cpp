#include <algorithm>
#include <cmath>
#include <map>

#include "base/loop_turns.hpp"
#include "metrics/classification.hpp"
#include "metrics/metrics.hpp"

namespace bdl {
namespace {

/// Bin b of B, counted from 1, holds the shares in ((b - 1) / B, b / B] as doubles, and the first 0: the
/// product alone would put 0.07 of 100 bins above its edge. A double, as B may be any number.
double bin_of(double share, double bins) {
  double bin = std::ceil(share * bins);
  if (share <= (bin - 1) / bins)
    --bin;
  else if (share > bin / bins)
    ++bin;
  return std::clamp(bin, 1.0, bins);
}

std::size_t index_of(double share, Index bins) {
  return static_cast<std::size_t>(bin_of(share, static_cast<double>(bins))) - 1;
}

}  // namespace

double expected_calibration_error(const Array& probabilities, const Array& y, Index bins) {
  if (bins < 1)
    fail(Status::ERROR_INVALID_ARGUMENT, "bins is %lld, expected at least 1", static_cast<long long>(bins));
  const Classification data(probabilities, y);
  // n_b (accuracy_b - confidence_b) of the bins in use: the memory does not depend on the caller's number.
  std::map<double, double> excess;
  LoopTurns turn;
  for (Index i = 0; i < data.examples(); ++i) {
    turn(data.probabilities.classes());
    const double confidence = data.probabilities.confidence(i);
    excess[bin_of(confidence, static_cast<double>(bins))] += (data.is_right(i) ? 1.0 : 0.0) - confidence;
  }
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
  LoopTurns turn;
  for (Index i = 0; i < data.examples(); ++i) {
    turn(data.probabilities.classes());
    const double confidence = data.probabilities.confidence(i);
    const auto bin = static_cast<Index>(index_of(confidence, curve.rows));
    bins(0, bin) += 1;
    bins(1, bin) += data.is_right(i) ? 1 : 0;
    bins(2, bin) += confidence;
  }
  for (Index bin = 0; bin < curve.rows; ++bin)  // 0 / 0 is NaN, as documented
    for (Index part = 1; part < 3; ++part) bins(part, bin) /= bins(0, bin);
  write_result<double>(bins, curve, "curve", NonFinite::documented);
}

void entropies(const Array& probabilities, const OutArray& entropy) {
  const ClassProbabilities p(probabilities);
  check_output(entropy, p.examples(), 1, "entropy");
  Buffer<double> values(p.examples());
  LoopTurns turn;
  for (Index i = 0; i < p.examples(); ++i) {
    turn(p.classes());
    values.data()[i] = p.entropy(i);
  }
  write_result<double>(values.matrix(1, p.examples()), entropy, "entropy");
}

void entropy_histogram(const Array& probabilities, const OutArray& counts) {
  const ClassProbabilities p(probabilities);
  check_output(counts, -1, 1, "counts");
  Buffer<double> values(counts.rows);
  std::ranges::fill(values.first(counts.rows), 0.0);
  const double largest = std::log(static_cast<double>(p.classes()));
  LoopTurns turn;
  for (Index i = 0; i < p.examples(); ++i) {
    turn(p.classes());
    values.data()[index_of(p.entropy(i) / largest, counts.rows)] += 1;
  }
  write_result<double>(values.matrix(1, counts.rows), counts, "counts");
}

}  // namespace bdl
