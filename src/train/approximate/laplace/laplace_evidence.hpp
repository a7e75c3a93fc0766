// The evidence of Laplace's approximation (MacKay 1992; docs/theory/evidence.md): log Z of a mean, a
// curvature, prior precisions by groups and, for Gaussian noise, a factor on its precision.
#pragma once

#include "train/approximate/laplace/curvature.hpp"
#include "train/approximate/laplace/fit_at_mean.hpp"

namespace bdl {

/// log Z, and its derivatives by the logarithms of the groups' precisions and, last, of the noise factor.
struct LogEvidence {
  double value = 0, log_likelihood = 0, effective_parameters = 0;
  std::vector<double> effective;      ///< effective parameters of each group
  std::vector<double> weights;        ///< sum of lambda_j m_j^2 in each group
  std::vector<double> slope, second;  ///< second derivatives: (G + 1) x (G + 1)
};

/// Holds what the evidence does not change with.
struct EvidenceData {
  const FitAtMean& fit;
  std::vector<double> deviation;  ///< of the mean from the prior's
  double temperature = 1;
  std::vector<double> noise;  ///< precisions of Gaussian noise in the curvature; empty: it has no such noise
  bool by_errors = false;     ///< true if the curvature has the squares of errors: it grows as noise squared

  /// Returns the factor on the curvature for this factor on the noise precision.
  double scale(double noise_factor) const {
    return (by_errors ? noise_factor * noise_factor : noise_factor) / temperature;
  }
};

/// Returns the log likelihood at this noise.
double log_likelihood(const EvidenceData& data, double noise_factor);

/// Computes the value, and the derivatives if asked.
template <class T>
LogEvidence log_evidence(const LaplaceCurvature<T>& curvature, const EvidenceData& data,
                         const GroupedPrecisions& prior, double noise_factor, bool derivatives);

/// Which precisions a search changes, and how far.
struct EvidenceSearch {
  bool prior = true, noise = false;
  double furthest = 1e300;            ///< of a logarithm from its value at the start
  bool noise_within_targets = false;  ///< no more noise than the targets vary
};

struct EvidenceOptimum {
  LogEvidence evidence;
  std::vector<double> groups;
  double noise_factor = 1;
  Index steps = 0;
};

/// Finds the optimum by Newton's method: the evidence is concave in the logarithms. Groups of which data or
/// mean say nothing keep their values.
template <class T>
EvidenceOptimum maximize_evidence(const LaplaceCurvature<T>& curvature, const EvidenceData& data,
                                  GroupedPrecisions prior, double noise_factor, const EvidenceSearch& search);

}  // namespace bdl
