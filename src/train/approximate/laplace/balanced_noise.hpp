// The noise of several targets beside the evidence, which has only a common factor on its precisions.
#pragma once

#include "likelihood/likelihood.hpp"
#include "train/approximate/laplace/fit_at_mean.hpp"

namespace bdl {

/// Multiplies the noise precisions, as training learns them.
void multiply_noise(double factor, Likelihood& likelihood);

/// Noise precisions whose ratios are those of the targets' errors, until keep() is called: the evidence has a
/// common factor on them.
class BalancedNoise {
 public:
  explicit BalancedNoise(Likelihood& likelihood) : likelihood_(likelihood), before_(likelihood) {}
  BalancedNoise(const BalancedNoise&) = delete;
  BalancedNoise& operator=(const BalancedNoise&) = delete;
  ~BalancedNoise() {
    if (!kept_) likelihood_ = std::move(before_);
  }
  /// Moves each logarithm by `furthest` at most; their mean stays but for that limit.
  void set(const FitAtMean& fit, double furthest);
  void keep() { kept_ = true; }

 private:
  Likelihood& likelihood_;
  Likelihood before_;
  bool kept_ = false;
};

}  // namespace bdl
