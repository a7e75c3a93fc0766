// The leverage guard: no example may throw its own prediction past what its own loss asks for.
#pragma once

#include "curvature/estimator.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// What a minibatch's gradient is made of: M examples at S samples, each counting `weight` = N / M times.
template <class T>
struct ExampleLosses {
  const Likelihood& likelihood;
  const Estimate<T>& estimate;
  ConstMatrixView<T> outputs;  ///< C x M S, column s M + i; none if the estimate is an expectation itself
  ConstMatrixView<T> y;        ///< targets x M
  double weight;
};

/// Example i moves its own outputs by about -t e, e = d(-log p)/df its gradient there and
/// t = alpha weight g^T Sigma g / |e|^2 (g its gradient, alpha the rate). Its gradient is scaled by the
/// largest s, of a falling sequence, with
///   a(s) = 2 [1 + (l(f - s t e) - l(f)) / (s t |e|^2)] <= c,
/// so that its own loss would fall by the part 1 - c / 2 of what its gradient promises. On a quadratic loss a
/// is the step's length in units of the Newton step. A rare example whose curvature has decayed, or a
/// confident mistake whose curvature is none, is what it holds back; directions that many examples share it
/// leaves alone.
template <class T>
class LeverageGuard {
 public:
  /// The estimate's coefficients c_r, scaled. They live until the next call.
  ConstSpan<T> scale(const ExampleLosses<T>& losses, const Posterior<T>& metric, double rate, double limit);
  /// Of the last call: were any scaled?
  bool has_held() const { return held_; }
  /// Memory for so many pairs of example and sample, and rows.
  void reserve(const Posterior<T>& metric, Index outputs, Index pairs, Index rows);

 private:
  void find_parts(const ExampleLosses<T>& losses, double rate, double limit);
  void find_part(const ExampleLosses<T>& losses, Index j, double rate, double limit);
  void collect_held(Index gradients, Index pairs);
  void scale_rows(const ExampleLosses<T>& losses);
  void merge_scaled(const ExampleLosses<T>& losses);
  Buffer<T> z_, c_;
  Buffer<double> leverages_, parts_, work_;
  Buffer<Index> which_;
  Index held_count_ = 0;
  bool held_ = false;
  LeverageScratch<T> scratch_;
};

/// The part s for one example: outputs f, targets y and gradient e (C values each, y the likelihood's), t as
/// above. `moved` has room for C values.
double kept_part(const Likelihood& likelihood, const double* f, const double* y, const double* e, double t,
                 double limit, double* moved);

}  // namespace bdl
