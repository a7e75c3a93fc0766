// Evidence: everything that a minibatch tells a step about the posterior q. It is the gradient g and the
// Hessian H of the expected negative log likelihood,
//
//   g = E_q[sum_i (N / M) d(-log p(y_i | f(x_i; theta))) / dtheta],   H likewise with second derivatives,
//
// estimated as option "curvature" says (docs/theory/curvature.md):
//
//   mc-ef, mc-ggn      at S draws theta_s ~ q, by rows b_r: g = sum_r c_r b_r and H = sum_r w_r b_r b_r^T
//   lin-ef             at the mean, by the rows of mc-ef: one an example, its gradient
//   lin-hess           at the mean, by the rows of mc-ggn: b = J^T a for each column a of a root of
//                      d2l/df2, the Hessian at the outputs (fill_seeds(), curvature/seeds.cpp). The matrix
//                      H = J^T (d2l/df2) J is never formed
//   mc-hess            at draws, g by the rows of mc-ef, H exact for each draw: a matrix or a diagonal
//   mc-reparam         at draws, by derivatives through them (pathwise.cpp); for a low-rank-moment posterior
//                      through noise in the layers, without draws of theta (noisy_estimator.hpp)
//   exact-hess         by one-dimensional integrals, for generalised linear models (exact_estimator.hpp)
//
// This file has the interface; evidence.cpp chooses the estimate. Read next draws.hpp, the source of random
// draws; groups.cpp, where groups of examples have different draws; and minibatch_evidence.hpp, which adds
// the sums that scales and the watch over divergence need. Rows come from curvature/estimator.hpp.
//
// An Evidence is a value: its views point into the Scratch that was given, and into the estimator until its
// next estimate.
#pragma once

#include "base/scratch.hpp"
#include "curvature/estimator.hpp"
#include "curvature/hessian.hpp"
#include "curvature/rows.hpp"
#include "evidence/draws.hpp"
#include "evidence/exact_estimator.hpp"
#include "evidence/noisy_estimator.hpp"
#include "options/options.hpp"

namespace bdl {

/// True for estimates at the mean: they draw no samples.
inline bool is_linearized(EstimateKind kind) {
  return kind == EstimateKind::lin_hess || kind == EstimateKind::lin_ef;
}

/// True for integrals over q: they need no samples either.
inline bool is_exact(EstimateKind kind) {
  return kind == EstimateKind::exact_hess;
}

/// True for estimates at samples of q.
inline bool is_sampled(EstimateKind kind) {
  return !is_linearized(kind) && !is_exact(kind);
}

/// True if the curvature consists of rows and is not a matrix or a diagonal.
inline bool gives_rows(EstimateKind kind) {
  return kind != EstimateKind::mc_hess && kind != EstimateKind::mc_reparam;
}

/// True if layers draw noise in place of parameter samples (docs/theory/noise.md).
inline bool is_noisy(Family family, EstimateKind kind) {
  return is_low_rank_moment(family) && kind == EstimateKind::mc_reparam;
}

/// Returns the numbers of examples and samples of an estimate, and the kind of its seeds.
BatchSize batch_size(const Options& options, Index examples);

/// Examples, one per column; each counts `weight` = N / M times.
template <class T>
struct Minibatch {
  ConstMatrixView<T> x, y;
  double weight = 1;
  DrawPlace place{};
  /// Returns examples `first` .. `first + count - 1`, whose draws are made at the given place.
  Minibatch part(Index first, Index count, DrawPlace draws) const {
    return {x.columns(first, count), y.columns(first, count), weight, draws};
  }
};

/// Samples theta_s of the parameters, one per column; for a dropout posterior also the masks that made them.
template <class T>
struct Samples {
  MatrixView<T> thetas{}, masks{};
};

template <class T>
struct Evidence {
  ConstSpan<T> gradient{};             ///< g; empty: the sum over rows has not been formed (gradient_of())
  Curvature<T> curvature{};            ///< H
  double expected_log_likelihood = 0;  ///< mean over samples of the minibatch's sum, without the factor N / M
  /// Gradient by all parameters of a low-rank-moment posterior, in place of H; else null.
  const NoiseGradient<T>* noise = nullptr;

  Estimate<T> estimate{};  ///< rows b_r with c_r and w_r; none if only sums are left, or `noise`
  const BlockedRows<T>* layers = nullptr;  ///< the rows of a network, layer by layer; else null
  ConstSpan<T> point_squares{};            ///< sum_r w_r b_r^2 of the point parameters, in rule "blr"
  ConstMatrixView<T> thetas{};             ///< samples of the whole vector, if there are any
  ConstMatrixView<T> outputs{};            ///< C x M S, column s M + i: f(x_i; theta_s); none for integrals
  ConstSpan<double> variances{};           ///< of the outputs, for integrals
  ConstSpan<double> statistics{};  ///< running statistics of layers that normalise, after this minibatch
  ConstMatrixView<T> y{};
  double weight = 1;
};

/// Returns g; forms it from the rows, in scratch memory, if it has not been formed yet.
template <class T>
ConstSpan<T> gradient_of(const Evidence<T>& evidence, Scratch& scratch);

template <class T>
class EvidenceEstimator {
 public:
  /// The model must outlive it.
  explicit EvidenceEstimator(const Model<T>& model);

  /// Returns the parameters at which option "curvature" estimates: samples of q or its mean; nothing for
  /// integrals and for noise in layers.
  Samples<T> draw(const Posterior<T>& q, const Options& options, DrawSource<T>& draws, DrawPlace place,
                  Scratch& scratch);
  /// Returns the evidence of the minibatch about q, estimated at these samples.
  Evidence<T> estimate(const Posterior<T>& q, const Minibatch<T>& batch, const Samples<T>& samples,
                       const Options& options, DrawSource<T>& draws, Scratch& scratch);
  /// Draws and estimates; option "sample_groups" does so group by group (groups.cpp).
  Evidence<T> estimate(const Posterior<T>& q, const Minibatch<T>& batch, const Options& options,
                       DrawSource<T>& draws, Scratch& scratch);
  /// Replaces thetas and outputs of the evidence by samples of q and the outputs there: scales are learned
  /// from them if the estimate itself has no samples.
  void sample(const Posterior<T>& q, const Minibatch<T>& batch, const Options& options, DrawSource<T>& draws,
              Scratch& scratch, Evidence<T>& evidence);

  /// Forms g and the diagonal of H in one pass over the rows, if the step needs no more of them and one pass
  /// is faster.
  void sum_rows(const Posterior<T>& q, const Options& options, Scratch& scratch, Evidence<T>& evidence) const;

  Estimator<T>& rows() { return *rows_; }
  ExactEstimator<T>& exact();

 private:
  Evidence<T> estimate_by_rows(const Posterior<T>& q, const Minibatch<T>& batch, const Samples<T>& samples,
                               const Options& options);
  Evidence<T> estimate_exactly(const Posterior<T>& q, const Minibatch<T>& batch);
  Evidence<T> estimate_groups(const Posterior<T>& q, const Minibatch<T>& batch, const Options& options,
                              DrawSource<T>& draws, Scratch& scratch);
  Curvature<T> hessian(const Posterior<T>& q, const Minibatch<T>& batch, const Samples<T>& samples,
                       const Options& options, DrawSource<T>& draws, Scratch& scratch);
  bool sums_together(const Posterior<T>& q, const Options& options) const;
  std::span<double> start_statistics(const Posterior<T>& q);

  // Defined in pathwise.cpp.
  void differentiate(const Posterior<T>& q, const Samples<T>& samples, Scratch& scratch,
                     Evidence<T>& evidence);
  void differentiate_masked(const DropoutPosterior<T>& q, const Samples<T>& samples, Scratch& scratch,
                            Evidence<T>& evidence);
  Evidence<T> estimate_noisily(const Posterior<T>& q, const Minibatch<T>& batch, const Options& options);

  const Model<T>& model_;
  Index dimension_;
  std::unique_ptr<Estimator<T>> rows_;
  // Made when first needed, because not every model has them.
  std::unique_ptr<HessianEstimator<T>> hessian_;
  std::unique_ptr<ExactEstimator<T>> exact_;
  std::unique_ptr<NoisyEstimator<T>> noisy_;
  NoiseGradient<T> noise_gradient_;
  Buffer<double> statistics_;
};

}  // namespace bdl
