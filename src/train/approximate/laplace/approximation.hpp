// Laplace's approximation at one mean, whatever has found the mean: the curvature of all data there, in a
// family, with how well the mean fits. Evidence and posterior for any prior and noise follow from it without
// the data.
#pragma once

#include "train/approximate/laplace/laplace_evidence.hpp"

namespace bdl {

/// Noise, prior and temperature for which an approximation is asked.
template <class T>
struct LaplaceTerms {
  const Likelihood& likelihood;
  const Prior<T>& prior;
  double temperature = 1;
};

template <class T>
class LaplaceApproximation {
 public:
  /// Makes it at q's mean and running statistics, in q's family; q's covariance is not read. All ranks call
  /// it within Team::telling. Fails with ERROR_DIVERGED if the curvature is not finite.
  LaplaceApproximation(const Model<T>& model, const Posterior<T>& q, Prior<T>& prior,
                       const CurvatureForm& form, const SharedData& shared);

  /// True if it still is the approximation at q's mean, for this prior and noise: neither the mean, nor a
  /// posterior that is the prior, nor ratios of noise precisions have changed.
  bool is_at(const Posterior<T>& q, const LaplaceTerms<T>& terms) const;
  const FitAtMean& fit() const { return fit_; }

  /// log Z for precisions of the prior's groups and a factor on the noise.
  LogEvidence evidence(const LaplaceTerms<T>& terms, const GroupedPrecisions& prior, double noise_factor,
                       bool derivatives = false) const;
  /// Fails with ERROR_UNSUPPORTED, saying what would work, unless the evidence has an optimum by these.
  void check_search(const LaplaceTerms<T>& terms, const EvidenceSearch& search) const;
  EvidenceOptimum maximize(const LaplaceTerms<T>& terms, const EvidenceSearch& search) const;
  /// Makes q, which has the mean, the posterior.
  void write(const LaplaceTerms<T>& terms, Posterior<T>& q) const;
  /// Returns 1/2 g^T Sigma g for the gradient g of the tempered loss at the mean and its posterior q: the
  /// nats that a Newton step would gain.
  double mode_gap(const LaplaceTerms<T>& terms, const Posterior<T>& q, const FitAtMean& fit) const;

 private:
  /// Returns the factor of the likelihood's noise precision on that of the curvature.
  double noise_factor(const Likelihood& likelihood) const;
  EvidenceData data(const LaplaceTerms<T>& terms) const;
  LogEvidence evidence_of_posterior(const LaplaceTerms<T>& terms, const EvidenceData& data,
                                    double noise_factor) const;

  std::unique_ptr<Posterior<T>> at_;           // mean, statistics and family
  std::shared_ptr<const Posterior<T>> prior_;  // a posterior that is the prior, or null
  bool has_noise_;                             // Gaussian noise without covariances
  std::vector<double> noise_;
  bool by_errors_;
  FitAtMean fit_;
  std::unique_ptr<LaplaceCurvature<T>> curvature_;
};

}  // namespace bdl
