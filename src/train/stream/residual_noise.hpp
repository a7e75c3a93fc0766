// Gaussian and Student-t noise that a stream learns from its one-step-ahead residuals
// (docs/theory/streams.md, "The noise"). A filter predicts y ~ N(m, S + R), so after a residual r = y - m
//
//   N <- N + u^2,    R <- R + w u^2 (r^2 - S - R),    u = R / (S + R),
//   w = max(2 / (4 + N), min(1/2, 1 - forgetting)).
//
// u^2 r^2 + u S is E[(y - f)^2] after the observation, the statistic of EM and of variational filters of the
// noise (Sarkka and Nummenmaa 2009), and u^2 the information about log R, in residuals that had no S. The
// noise at the start counts as 4 residuals, and a stream that forgets goes on learning its noise.
#pragma once

#include <vector>

#include "likelihood/likelihood.hpp"
#include "options/options.hpp"

namespace bdl {

/// Numbers for each target: the information N of its residuals, the mean precision that observations were
/// given, and the number, mean and variance of its standardised values.
struct NoiseCounts {
  std::vector<double> information, given, values, mean, variance;
  bool is_empty() const { return information.empty(); }
};

class ResidualNoise {
 public:
  /// True if streams learn the noise of this model: unless the caller has set it, or says so.
  static bool is_learned(const Likelihood& likelihood, const Options& options) {
    return options.learn_noise && (likelihood.kind() == BDL_GAUSSIAN || likelihood.kind() == BDL_STUDENT_T) &&
           likelihood.noise_origin() != NoiseOrigin::caller;
  }
  /// Gives the likelihood the precision of the next observation: its own, or half of what former ones had if
  /// that is more. Else a shift of the targets, which raises the noise at first, would never be learned.
  class Given {
   public:
    Given(const ResidualNoise& noise, Likelihood& likelihood) : noise_(noise), likelihood_(likelihood) {
      likelihood_.learn_noise_precision(noise_.given_);
    }
    Given(const Given&) = delete;
    Given& operator=(const Given&) = delete;
    ~Given() { likelihood_.learn_noise_precision(noise_.precision_); }

   private:
    const ResidualNoise& noise_;
    Likelihood& likelihood_;
  };
  /// Prepares the noise after an observation, which begins with begin().
  void begin(const Likelihood& likelihood);
  /// Learns from target c of an example: y with the predictive mean and the variance of f; NaN says nothing.
  void add(const Likelihood& likelihood, const Options& options, Index c, double y, double mean,
           double variance, double weight);
  /// Makes what was prepared the state, and gives the likelihood its precision. Cannot fail.
  void commit(Likelihood& likelihood);
  /// Begins anew at the likelihood's precision.
  void forget() { counts_ = {}; }

  const NoiseCounts& counts() const { return counts_; }
  void restore(NoiseCounts counts) { counts_ = std::move(counts); }

 private:
  void start(Index targets);
  void limit(double& noise) const;
  NoiseCounts counts_, next_;  // empty before the first observation
  // As many as the likelihood has precisions: its own, those that the observation is given, the next
  // variances.
  std::vector<double> precision_, given_, noise_;
};

}  // namespace bdl
