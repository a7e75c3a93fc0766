// Finds the maximum of the ELBO over the posteriors of one family, by L-BFGS in coordinates of the family.
#pragma once

#include "train/exact/coordinates.hpp"
#include "train/exact/fixed_point.hpp"

namespace bdl {

class DescentSearch {
 public:
  static constexpr Index usual_pairs = 20;
  /// Number of iterations of L-BFGS that count as one of the search. Where natural-gradient steps do not
  /// converge, as without counts or between classes that are apart under a flat prior, L-BFGS takes
  /// thousands.
  static constexpr Index together = 200;
  /// All arguments must outlive it. The search moves q, the posterior of the coordinates.
  DescentSearch(Coordinates& coordinates, const Posterior<double>& q, double tolerance,
                const Iterated& iterated, Index pairs = usual_pairs);
  /// Searches until the natural gradient is as short as the tolerance, or until rounding leaves no more to
  /// gain.
  SearchEnd run();
  /// Returns the length of the natural gradient at q.
  double length() {
    center();
    return scale_;
  }
  /// Number of step and gradient pairs that L-BFGS keeps: fewer where there are many coordinates, since each
  /// pair takes as much memory as two of them.
  static Index pairs_for(Index coordinates) {
    return std::clamp<Index>((Index{1} << 24) / coordinates, 4, usual_pairs);
  }

 private:
  /// Ways to compute differences of the loss: directly, or (near the optimum, where that is rounding) from
  /// the gradients at both ends of each step.
  enum class Values { computed, integrated };
  void center();
  bool descend(Values values, double enough);
  double evaluate(ConstSpan<double> z, std::span<double> gradient);
  bool report(ConstSpan<double> z, ConstSpan<double> gradient);
  bool is_stuck(double value, double length);
  void commit();
  double integrated_change(ConstSpan<double> z, ConstSpan<double> gradient) const;

  Coordinates& coordinates_;
  const Posterior<double>& q_;
  double tolerance_;
  Index pairs_;
  const Iterated& iterated_;
  ExactElbo::Value start_, last_, reported_;
  Index uncommitted_ = 0;  // iterations
  bool stopped_ = false;

  // State of a descent from the chart's center, where the natural gradient has length scale_. Its variables
  // z are the chart's coordinates / scale_, its function is the loss / scale_^2, so the first gradient has
  // length 1.
  double scale_ = 0, noise_ = 0, enough_ = 0;
  Values values_ = Values::computed;
  struct Points {
    Buffer<double> memory;
    void reserve(Index coordinates) { memory.reserve(3 * coordinates); }
  } points_;
  std::span<double> z_, here_, gradient_here_;  // coordinates / scale_; here: those of the last iteration
  double value_here_ = 0, lowest_ = 0, shortest_ = 0;
  int waiting_ = 0;
};

}  // namespace bdl
