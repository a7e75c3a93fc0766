// Scores of predictions, as documented in bdl/metrics.h. All arguments are checked before anything is
// computed.
#pragma once

#include "base/array.hpp"

namespace bdl {

double rmse(const Array& mean, const Array& y);

struct MeanEstimate {
  double mean, standard_error;
};
MeanEstimate mean_log_predictive_density(const Array& log_density);

/// The most probable class of several is the one with the lowest number.
double accuracy(const Array& probabilities, const Array& y);
double brier_score(const Array& probabilities, const Array& y);
double negative_log_likelihood(const Array& probabilities, const Array& y);
/// Bin b of M holds the confidences in ((b - 1) / M, b / M].
double expected_calibration_error(const Array& probabilities, const Array& y, Index bins);
void calibration_curve(const Array& probabilities, const Array& y, const OutArray& curve);

void entropies(const Array& probabilities, const OutArray& entropy);
void entropy_histogram(const Array& probabilities, const OutArray& counts);

double coverage(const Array& lower, const Array& upper, const Array& y);

/// Unbiased for S >= 2, hence possibly negative.
double crps(const Array& draws, const Array& y);

}  // namespace bdl
