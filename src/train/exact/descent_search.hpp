// The ELBO's maximum over the posteriors of one family, by L-BFGS in coordinates of the family.
#pragma once

#include "train/exact/coordinates.hpp"
#include "train/exact/fixed_point.hpp"

namespace bdl {

class DescentSearch {
 public:
  static constexpr Index usual_pairs = 20;
  /// All arguments must outlive it. q is the posterior of the coordinates; the search moves it.
  DescentSearch(Coordinates& coordinates, const Posterior<double>& q, double tolerance,
                const Iterated& iterated, Index pairs = usual_pairs);
  /// Until the natural gradient is as short as the tolerance, or rounding leaves nothing more to be gained.
  SearchEnd run();
  /// Length of the natural gradient at q.
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
  /// How differences of the loss are found: as they are, or (near the optimum, where that is rounding) from
  /// the gradients at both ends of each step.
  enum class Values { computed, integrated };
  void center();
  bool descend(Values values, double enough);
  double evaluate(ConstSpan<double> z, std::span<double> gradient);
  bool report(ConstSpan<double> z, ConstSpan<double> gradient);
  bool is_stuck(double value, double length);
  double integrated_change(ConstSpan<double> z, ConstSpan<double> gradient) const;

  Coordinates& coordinates_;
  const Posterior<double>& q_;
  double tolerance_;
  Index pairs_;
  const Iterated& iterated_;
  ExactElbo::Value start_, last_;
  bool stopped_ = false;

  // Of a descent from the chart's center, where the natural gradient has length scale_. Its variables z are
  // the chart's coordinates / scale_, its function the loss / scale_^2: both begin with a gradient of
  // length 1.
  double scale_ = 0, noise_ = 0, enough_ = 0;
  Values values_ = Values::computed;
  struct Points {
    Buffer<double> memory;
    void reserve(Index coordinates) { memory.reserve(3 * coordinates); }
  } points_;
  std::span<double> z_, here_, gradient_here_;  // points; here: at the last iteration
  double value_here_ = 0, lowest_ = 0, shortest_ = 0;
  int waiting_ = 0;
};

}  // namespace bdl
