// Scores of predictions, as documented in bdl/metrics.h. All arguments are checked before anything is
// computed. classification.hpp reads class probabilities and labels; ranking.hpp measures how well scores
// separate two groups.
#pragma once

#include "base/array.hpp"

namespace bdl {

double rmse(const Array& mean, const Array& y);

struct MeanEstimate {
  double mean, standard_error;
};
MeanEstimate mean_log_predictive_density(const Array& log_density);

/// If several classes are most probable, the first of them counts as predicted.
double accuracy(const Array& probabilities, const Array& y);
double brier_score(const Array& probabilities, const Array& y);
double negative_log_likelihood(const Array& probabilities, const Array& y);
/// Bin b of M counts confidences in ((b - 1) / M, b / M].
double expected_calibration_error(const Array& probabilities, const Array& y, Index bins);
void calibration_curve(const Array& probabilities, const Array& y, const OutArray& curve);

void entropies(const Array& probabilities, const OutArray& entropy);
void entropy_histogram(const Array& probabilities, const OutArray& counts);

double coverage(const Array& lower, const Array& upper, const Array& y);

/// Unbiased for S >= 2 draws, and hence possibly negative.
double crps(const Array& draws, const Array& y);

/// Sums over rows, and the standard error of the first.
struct Elpd {
  double elpd, standard_error, effective_parameters;
};
/// Estimates of the expected log predictive density from S x n log likelihoods (leave_one_out.cpp), written
/// to `pointwise` if it is given, and their sums.
class PointwiseElpd {
 public:
  /// Fails unless the arrays are right, and writes nothing yet.
  PointwiseElpd(const Array& log_likelihood, const OutArray& pointwise, bool by_leaving_out);
  Elpd sums() const;
  void write() const;

 private:
  Buffer<double> values_;
  MatrixView<double> rows_;
  const OutArray& pointwise_;
};

/// Returns the temperature in [1/1000, 1000] that calibrates logits on validation data (Guo et al. 2017).
double fit_temperature(const Array& logits, const Array& y);
/// Writes log softmax(logits / temperature).
void apply_temperature(const Array& logits, double temperature, const OutArray& log_probabilities);

}  // namespace bdl
