// Plain gradients in batches, gone down as those of neural networks are: SGD with momentum or Adam (Kingma
// and Ba 2015, algorithm 1) on the loss per example. Rule map moves the mean; rule bbb moves the mean and rho
// of a diagonal Gaussian, sigma = exp(rho) or log(1 + exp(rho)) (Blundell et al. 2015).
#pragma once

#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Moving averages of the gradient with respect to the mean and, behind it, rho.
template <class T>
struct Moments {
  Buffer<T> first, second;  ///< of the gradient; of its square, with Adam
  Index size = 0;           ///< D or 2 D
  bool has_second = false;
  Index steps = 0;  ///< gradients in the averages; 0: the rest has no meaning
};

template <class T>
struct DescentStep {
  const Posterior<T>& from;
  ConstSpan<T> gradient;         ///< of N times the loss, with respect to the mean
  ConstSpan<T> prior_precision;  ///< for the scales: Lambda_0's diagonal
  double data_size, rate;
  Index number;  ///< for messages
};

template <class T>
class FirstOrder {
 public:
  /// The mean after the step. Fails with ERROR_DIVERGED where something is not finite.
  ConstSpan<T> move_mean(const DescentStep<T>& step, const Options& options);
  /// `to` becomes the diagonal posterior after the step, which the curvature's diagonal completes.
  void move_diagonal(const DescentStep<T>& step, const Curvature<T>& curvature, const Options& options,
                     Posterior<T>& to);
  /// The averages become those of the last step.
  void commit() noexcept { std::swap(now_, next_); }
  /// The next step begins new averages, as does one of another kind than the last.
  void forget() noexcept { now_.steps = 0; }
  ConstSpan<T> mean() const { return mean_; }
  const Moments<T>& moments() const { return now_; }
  void restore(Moments<T>&& moments) { now_ = std::move(moments); }
  /// Memory for steps of the mean, or of the mean and the scales.
  void reserve(Index dimension, bool moves_scales, const Options& options);

 private:
  struct Averages;
  Averages begin(Index size, const DescentStep<T>& step, const Options& options);
  template <bool adam>
  void step_mean(const DescentStep<T>& step, const Averages& averages, std::span<T> mean);
  template <bool adam, class Scale>
  void step_scales(const DescentStep<T>& step, const Averages& averages, std::span<T> h);
  void check(const char* what, ConstSpan<T> values, T lowest, Index number) const;
  Moments<T> now_, next_;
  Buffer<T> mean_buffer_, old_precision_, precision_;
  ConstSpan<T> mean_;
};

}  // namespace bdl
