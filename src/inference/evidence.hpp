// What data say about a belief: the expected gradient and Hessian of their negative log likelihood, by one of
// the estimates of docs/mathematics/curvature.md.
#pragma once

#include "curvature/curvature.hpp"
#include "curvature/estimator.hpp"
#include "curvature/hessian.hpp"
#include "inference/batch/leverage_guard.hpp"
#include "inference/draws.hpp"
#include "inference/exact/exact_estimator.hpp"
#include "inference/noise/noisy_estimator.hpp"
#include "options/options.hpp"

namespace bdl {

/// At the mean, without samples.
inline bool is_linearized(EstimateKind kind) {
  return kind == EstimateKind::lin_hess || kind == EstimateKind::lin_ef;
}

/// From q itself, without samples.
inline bool is_exact(EstimateKind kind) {
  return kind == EstimateKind::exact_hess;
}

/// At samples of q.
inline bool is_sampled(EstimateKind kind) {
  return !is_linearized(kind) && !is_exact(kind);
}

/// As rows, not as a matrix or a diagonal.
inline bool gives_rows(EstimateKind kind) {
  return kind != EstimateKind::mc_hess && kind != EstimateKind::mc_reparam;
}

/// Examples of a step with its samples and seeds.
BatchSize batch_size(const Options& options, Index examples);

template <class T>
struct Evidence {
  ConstSpan<T> gradient;
  Curvature<T> curvature;
  double expected_log_likelihood = 0;
  const NoiseGradient<T>* noise = nullptr;  ///< of low-rank-moment posteriors, in place of the curvature
};

/// By draws that each example makes for itself?
inline bool is_noisy(Family family, EstimateKind kind) {
  return is_low_rank_moment(family) && kind == EstimateKind::mc_reparam;
}

/// Where a belief with another mean would have been asked: at the same deviations from its mean (one per
/// column of thetas - center), at outputs of the same variances, or, with none of both, at its mean.
template <class T>
struct EvidencePoints {
  ConstMatrixView<T> thetas{};
  ConstSpan<T> center{};
  ConstSpan<double> variances{};
  ConstMatrixView<T> outputs{};  ///< at `center`, if they are known
};

/// Holds the memory: views of the evidence live until the next call.
template <class T>
class EvidenceEstimator {
 public:
  explicit EvidenceEstimator(const Model<T>& model);
  /// Of examples x and y (columns), each counting `weight` times, under the belief q.
  Evidence<T> assess(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                     const Options& options, double weight, DrawSource<T>& draws, DrawPlace place,
                     PosteriorScratch<T>& scratch);
  /// The same for a step of a batch, but its gradient may be missing: gradient() gives it, or
  /// guarded_gradient() when it is known how far it moves the mean.
  Evidence<T> prepare(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                      const Options& options, double weight, DrawSource<T>& draws, DrawPlace place,
                      PosteriorScratch<T>& scratch);
  /// prepare() of each of options.sample_groups parts of the minibatch, which has draws of its own: those of
  /// the place's iteration and the ones after it. The curvature is a diagonal.
  Evidence<T> prepare_groups(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                             const Options& options, double weight, DrawSource<T>& draws, DrawPlace place,
                             PosteriorScratch<T>& scratch);
  /// The samples of a step before anything is seen at them: keep_samples() from then on.
  void draw_samples(const Posterior<T>& q, const Options& options, DrawSource<T>& draws, DrawPlace place,
                    PosteriorScratch<T>& scratch);
  /// While true, samples of the posterior stay what they are: other examples are seen at the same ones.
  void keep_samples(bool keep) { keeps_samples_ = keep; }
  /// Memory for it.
  void reserve_groups(const Posterior<T>& q, const Options& options, Index examples);
  /// Of what prepare() saw.
  ConstSpan<T> gradient();
  /// The same for a step of the mean by the covariance of `metric`: the gradient as the guard
  /// lets it pass, and whether it held anything back.
  ConstSpan<T> guarded_gradient(const Posterior<T>& metric, double rate, double limit, bool& held);
  /// For estimates without samples: posterior samples, and the outputs at them, in place of those of the last
  /// evidence.
  void sample(const Posterior<T>& q, ConstMatrixView<T> x, const Options& options, DrawSource<T>& draws,
              DrawPlace place, PosteriorScratch<T>& scratch);
  /// Memory for sample().
  void reserve_samples(const Posterior<T>& q, const Options& options, Index examples,
                       PosteriorScratch<T>& scratch);
  /// Parameters at which the last evidence was computed, one per column, or the last samples; none if it was
  /// exact.
  ConstMatrixView<T> thetas() const { return thetas_.matrix(dimension_, samples_); }
  /// What the last evidence has made of the belief's running statistics.
  ConstSpan<double> statistics() const { return statistics_.first(statistics_size_); }
  /// The rows of the last evidence by layers, of a network.
  const BlockedRows<T>& blocks() const { return *rows_->blocks(); }
  /// Of evidence by these options; null for a user's model. Its memory is reserved.
  const BlockedRows<T>* find_blocks(const Options& options) const {
    return is_exact(options.curvature) ? &exact_->blocks() : rows_->blocks();
  }
  /// sum_r w_r b_r^2 over the rows of the last evidence, of the point parameters.
  void point_squares(std::span<T> out) const;
  /// At thetas(): C x M S, column s M + i.
  ConstMatrixView<T> outputs() const { return outputs_; }
  /// Of the last evidence; the belief that it was about must still be there.
  EvidencePoints<T> points(const Options& options, Index examples) const;
  /// Memory for assess() and prepare() of so many examples, and for what is made of the rows.
  void reserve(const Posterior<T>& q, const Options& options, Index examples, const RowsUse& use,
               PosteriorScratch<T>& scratch);
  /// Memory for guarded_gradient().
  void reserve_guard(const Posterior<T>& metric, const Options& options, Index examples);
  RowsCost cost(const Options& options, Index examples) const;

  /// Numbers by which the evidence of so many examples and that of others become one; those of the last
  /// evidence; and that of all of them, but for its log likelihood (Estimator).
  Index shared_numbers(const Options& options, Index examples) const;
  void write_shared(const Options& options, std::span<T> out) const {
    is_exact(options.curvature) ? exact_->write_shared(out) : rows_->write_shared(out);
  }
  void reserve_joined(const Posterior<T>& q, const Options& options, Index examples, const RowsUse& use,
                      PosteriorScratch<T>& scratch);
  Evidence<T> join(const Posterior<T>& q, const Options& options, ConstMatrixView<T> y, double weight,
                   ConstSpan<Index> sizes, ConstSpan<const T*> numbers);
  /// The last evidence's rows, for what is still to be made of them, in another way.
  void replace_rows(ExampleRows<T>& rows) { estimate_.rows = &rows; }

 private:
  void reserve_own(const Posterior<T>& q, const Options& options, Index examples,
                   PosteriorScratch<T>& scratch);
  void reserve_hessian(const Posterior<T>& q, const Options& options, Index examples);
  void draw(const Posterior<T>& q, DrawSource<T>& draws, DrawPlace place, PosteriorScratch<T>& scratch);
  void choose_thetas(const Posterior<T>& q, const Options& options, DrawSource<T>& draws, DrawPlace place,
                     PosteriorScratch<T>& scratch);
  Estimate<T> estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                       const Options& options, double weight, DrawPlace place);
  Curvature<T> hessian(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                       const Options& options, double scale, DrawSource<T>& draws, DrawPlace place);
  void draw_masked(const DropoutPosterior<T>& q, DrawSource<T>& draws, DrawPlace place);
  Evidence<T> see(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y, const Options& options,
                  double weight, DrawSource<T>& draws, DrawPlace place, PosteriorScratch<T>& scratch);
  bool sums_together(const Posterior<T>& q, const Options& options) const;
  Evidence<T> reparametrized(const Posterior<T>& q, const Estimate<T>& estimate);
  Evidence<T> masked(const DropoutPosterior<T>& q, const Estimate<T>& estimate);
  Evidence<T> noisy(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y, const Options& options,
                    double weight, DrawPlace place);
  std::unique_ptr<Estimator<T>> rows_;
  const Model<T>& model_;
  std::unique_ptr<HessianEstimator<T>> hessian_;  // when first needed: a user's model has none
  std::unique_ptr<ExactEstimator<T>> exact_;      // likewise: few models have one
  std::unique_ptr<NoisyEstimator<T>> noisy_;      // likewise: networks, for some posteriors
  Index dimension_, samples_ = 0, statistics_size_ = 0;
  Buffer<T> thetas_, masks_, gradient_, sample_gradient_, diagonal_, probes_, sampled_outputs_;
  Scratch forward_scratch_;
  ConstMatrixView<T> outputs_;
  ConstSpan<T> center_;  // mean of the belief that was assessed last
  Buffer<double> matrix_, statistics_;
  NoiseGradient<T> noise_gradient_;
  struct Groups {
    bool are_last = false;  // of the last evidence
    Buffer<T> gradient, diagonal, part, outputs, point_squares, point_part;
    Buffer<double> statistics;
  };
  void add_group(const Evidence<T>& part, const Posterior<T>& q, Index first, Index count, Index examples);
  Groups groups_;
  // Of the last prepare().
  Estimate<T> estimate_;
  ConstMatrixView<T> y_;
  double weight_ = 1;
  bool has_gradient_ = false, keeps_samples_ = false;
  LeverageGuard<T> guard_;
};

}  // namespace bdl
