// Errors of the network at a mean, by targets (of classes there are none), and the noise precisions that suit
// them: N values, of which the data determine gamma, have the noise precision (N - gamma) / sum of squared
// errors (docs/theory/scales.md, "By the evidence").
#pragma once

#include <vector>

#include "train/scales/sample.hpp"

namespace bdl {

template <class T>
class TargetNoise {
 public:
  /// The sample must outlive it.
  TargetNoise(const Optimizer<T>& optimizer, const EvidenceSample<T>& sample);
  /// Adds up errors at the mean of the optimizer's posterior. The noise is the present one again.
  void compute();
  /// Takes the noise of the errors, as if nothing were fitted.
  void begin_afresh() { move(nothing_, true); }
  /// Takes the noise of the errors, given how many parameters the data determine of each target. It is never
  /// larger than that of a constant; where noise depends on x, never much larger.
  void move(ConstSpan<double> determined, bool depends_on_x);
  /// Takes noise that is so many times as precise as that of a constant.
  void suppose(double times);

  /// Returns the log likelihood with this noise, scaled to all data.
  double log_likelihood() const;
  /// Returns the log likelihood of a constant, with its best noise.
  double of_constant() const;
  std::size_t targets() const { return targets_.size(); }
  /// Returns a target's noise precision, and its factor on the present one.
  double precision(std::size_t target) const { return present(target) * factors_[target]; }
  double factor(std::size_t target) const { return factors_[target]; }
  /// Returns the noise precisions as the likelihood holds them, and those of a constant, until the next call.
  ConstSpan<double> precisions();
  ConstSpan<double> precisions_of_constant();

 private:
  /// Sums over all data of targets less their offsets; squared errors as the noise sees them.
  struct Sums {
    double values = 0, errors = 0, sum = 0, squares = 0;
    double variance() const;
  };
  /// Holds what a noise precision is learned from: its targets' values, errors, and squares about their
  /// means.
  struct Totals {
    double values = 0, errors = 0, about_mean = 0, determined = 0;
  };
  void add(ConstMatrixView<T> x, ConstMatrixView<T> y, double weight);
  Totals totals_of(std::size_t precision, ConstSpan<double> determined) const;
  double without_outliers(double constant) const;
  bool is_shared() const { return precisions_.size() == 1; }
  double present(std::size_t target) const { return likelihood_.noise_precision(static_cast<Index>(target)); }

  const Optimizer<T>& optimizer_;
  const EvidenceSample<T>& sample_;
  const Likelihood& likelihood_;
  std::vector<Sums> targets_;
  std::vector<double> factors_, errors_, precisions_, nothing_;
  double log_likelihood_ = 0;  // with the present noise
  Buffer<T> outputs_;
  Scratch scratch_;
};

}  // namespace bdl
