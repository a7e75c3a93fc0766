// Plain gradients in batches, gone down as those of neural networks are: SGD with momentum or Adam (Kingma
// and Ba 2015, algorithm 1) on the loss per example. Rule map moves the mean; rule bbb moves the mean and rho
// of a diagonal Gaussian, sigma = exp(rho) or log(1 + exp(rho)) (Blundell et al. 2015), or mean, W and rho of
// low-rank-moment posteriors (low_rank_descent.cpp). VOGN and IVON are here as well: they take the curvature
// where Adam has squares (newton_descent.cpp).
#pragma once

#include "inference/batch/tied_scales.hpp"
#include "network/noise/noisy_network.hpp"
#include "options/options.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"

namespace bdl {

/// Moving averages of the gradient with respect to the mean and, behind it, W and rho.
template <class T>
struct Moments {
  Buffer<T> first,
      second;      ///< of the gradient; of its square (Adam) or the curvature per example (VOGN, IVON)
  Index size = 0;  ///< D, 2 D, or as many as are learned of a low-rank-moment posterior
  DescentOption kind = DescentOption::sgd;
  Index steps = 0;  ///< gradients in the averages; 0: the rest has no meaning
  bool has_second() const { return kind != DescentOption::sgd; }
};

/// By the curvature per example of diagonal posteriors (docs/mathematics/vogn.md).
inline bool is_newton(DescentOption descent) {
  return descent == DescentOption::vogn || descent == DescentOption::ivon;
}

template <class T>
struct DescentStep {
  const Posterior<T>& from;
  ConstSpan<T> gradient;         ///< of N / gradient_scale times the loss, with respect to the mean
  ConstSpan<T> prior_precision;  ///< for the scales: Lambda_0's diagonal
  double data_size, rate;
  Index number;  ///< for messages
  double kl_weight = 1, gradient_scale = 1;
};

/// What steps of VOGN and IVON take beside; sums over all N examples, as the gradient.
template <class T>
struct NewtonStep {
  ConstSpan<T> prior_slope;    ///< Lambda_0 (mean - mu_0)
  ConstSpan<T> point_squares;  ///< summed squared gradients of the points
  double curvature_rate, temperature, next_temperature;
  bool at_start;  ///< the curvature is initial_curvature, or, if that is 0, becomes this minibatch's
};

template <class T>
class FirstOrder {
 public:
  /// The mean after the step. Fails with ERROR_DIVERGED where something is not finite.
  ConstSpan<T> move_mean(const DescentStep<T>& step, const Options& options);
  /// `to` becomes the diagonal posterior after the step, which the curvature's diagonal completes.
  void move_diagonal(const DescentStep<T>& step, const Curvature<T>& curvature, const Options& options,
                     Posterior<T>& to);
  /// `to` becomes the low-rank-moment posterior after the step, for the likelihood's gradient by W and log
  /// sqrt(s).
  void move_low_rank(const DescentStep<T>& step, const NoiseGradient<T>& gradient, const Options& options,
                     Posterior<T>& to);
  /// `to` becomes the diagonal posterior after a step of VOGN or IVON by the gradient, the prior apart.
  void move_newton(const DescentStep<T>& step, const NewtonStep<T>& newton, const Curvature<T>& curvature,
                   const Options& options, Posterior<T>& to);
  /// The averages become those of the last step.
  void commit() noexcept {
    std::swap(now_, next_);
    tied_.commit();
  }
  /// The next step begins new averages, as does one of another kind than the last.
  void forget() noexcept { now_.steps = 0; }
  ConstSpan<T> mean() const { return mean_; }
  const Moments<T>& moments() const { return now_; }
  void restore(Moments<T>&& moments) { now_ = std::move(moments); }
  /// Memory for steps of the mean, or of the mean and the scales.
  void reserve(Index dimension, bool moves_scales, const Options& options);
  /// The same for move_low_rank().
  void reserve_low_rank(const Posterior<T>& q, const Options& options);
  /// The same for move_newton().
  void reserve_newton(Index dimension, const Options& options);
  /// What option diagonal_part "tied" learns in place of s.
  TiedScales<T>& tied() { return tied_; }
  const TiedScales<T>& tied() const { return tied_; }

 private:
  struct Averages;
  Averages begin(Index size, const DescentStep<T>& step, const Options& options);
  void step_mean(const DescentStep<T>& step, const Averages& averages, const Options& options,
                 std::span<T> mean);
  template <bool adam>
  void step_mean(const DescentStep<T>& step, const Averages& averages, std::span<T> mean);
  template <bool adam, class Scale>
  void step_scales(const DescentStep<T>& step, const Averages& averages, std::span<T> h);
  template <bool adam>
  void step_low_rank(const DescentStep<T>& step, const Averages& averages, const NoiseGradient<T>& gradient,
                     const Options& options, Posterior<T>& to);
  /// Parameters row .. row + count - 1 of a block, whose first one is `offset`.
  struct LowRankRows {
    const LowRankMomentPosterior<T>& from;
    Index offset, row, count;
  };
  template <bool adam>
  void step_rows(const DescentStep<T>& step, const Averages& averages, const NoiseGradient<T>& gradient,
                 const LowRankRows& rows, bool has_scales, MatrixView<T> to);
  template <bool adam, class Scale>
  static void step_free(const Averages& averages, ConstSpan<T> by_log_sigma, Index first, ConstSpan<T> from,
                        std::span<T> to);
  template <bool adam, class Scale>
  static void step_common(const Averages& averages, ConstSpan<T> by_log_sigma, Index number,
                          ConstSpan<T> from, std::span<T> to);
  template <bool adam>
  void step_tied(const DescentStep<T>& step, const Averages& averages, Posterior<T>& to);
  struct NewtonTerms;
  template <bool is_ivon>
  void step_newton(const DescentStep<T>& step, const NewtonTerms& terms, std::span<T> mean,
                   std::span<T> precision);
  void step_points(const DescentStep<T>& step, const NewtonStep<T>& newton, const NewtonTerms& terms,
                   const Options& options, std::span<T> mean);
  void reserve_moments(Index size, const Options& options);
  void check(const char* what, ConstSpan<T> values, T lowest, Index number) const;
  Moments<T> now_, next_;
  Buffer<T> mean_buffer_, old_precision_, precision_;
  Buffer<T> by_w_, by_log_sigma_, scales_;
  Index learned_ = 0;
  std::vector<LowRankMomentPosterior<T>*> targets_;  // blocks of a step's result
  TallScratch tall_;
  TiedScales<T> tied_;
  ConstSpan<T> mean_;
};

}  // namespace bdl
