#include "train/approximate/laplace/low_rank_curvature.hpp"

#include <algorithm>
#include <cmath>

#include "curvature/data_rows.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "ranks/sharded_rows.hpp"

namespace bdl {
namespace {

// Least number of passes of the range finder, which has no factor of an earlier step to start from.
constexpr Index cold_passes = 12;

}  // namespace

template <class T>
LowRankCurvature<T>::LowRankCurvature(const Model<T>& model, const Posterior<T>& q, Prior<T>& prior,
                                      const CurvatureForm& form, const SharedData& shared)
    : size_(q.dimension()), rank_(q.rank()), u_(size_ * rank_), r_(size_) {
  if (rank_ == 0) {
    find_diagonal(model, q, form, shared);
  } else if (SeedSpec seeds = curvature_seeds(form, q, shared.weight(), 0); shared.shards == 1) {
    DataRows<T> rows(model, q.mean(), shared.data, seeds);
    find_columns(q, prior, rows, rows.weights(), form);
  } else if (DataRows<T>::has_gram(model, seeds.kind, shared.data.rows())) {
    ShardEstimates<T> shards(model);
    const Estimate<T> all = shards.join(q.mean(), shared.data, seeds, shared.team, shared.shards);
    find_columns(q, prior, *all.rows, all.w, form);
  } else {
    ShardedRows<T> rows(model, q.mean(), shared.data, seeds, shared.team, shared.shards);
    find_columns(q, prior, rows, rows.weights(), form);
  }
  const auto is_finite = [](T value) { return std::isfinite(value); };
  if (!std::ranges::all_of(r_.first(size_), is_finite) ||
      !std::ranges::all_of(u_.first(size_ * rank_), is_finite))
    fail(Status::ERROR_DIVERGED, "the curvature of the data is not finite");
}

template <class T>
void LowRankCurvature<T>::find_diagonal(const Model<T>& model, const Posterior<T>& q,
                                        const CurvatureForm& form, const SharedData& shared) {
  TreeSums<double> sums;
  sums.reserve(shared.team.rank(), shared.team.size(), shared.shards, q.dimension(), 0);
  Buffer<T> squares(q.dimension());
  add_up(shared.team, sums, [&](Index shard, std::span<double> out) {
    const ShardRange examples = part_of(shard, shared.shards, shared.data.rows());
    std::ranges::fill(out, 0.0);
    if (examples.count() == 0) return;
    RowRange own(shared.data, examples.first, examples.count());
    DataRows<T> rows(model, q.mean(), own, curvature_seeds(form, q, shared.weight(), examples.first));
    rows.sum_squares(rows.weights(), squares.first(q.dimension()));
    std::ranges::copy(squares.first(q.dimension()), out.begin());
  });
  std::ranges::transform(std::as_const(sums).values(), r_.data(),
                         [](double sum) { return static_cast<T>(sum); });
}

/// Takes the lines 7 to 10 of a step of SLANG from nothing, and without a prior.
template <class T>
void LowRankCurvature<T>::find_columns(const Posterior<T>& q, Prior<T>& prior, Rows<T>& rows,
                                       ConstSpan<T> weights, const CurvatureForm& form) {
  PosteriorStep<T> step{q};
  step.curvature = {&rows, weights, {}, {}};
  prior.enter(step);  // columns of a low-rank prior
  ProjectionOptions projection = form.projection;
  projection.passes = std::max(projection.passes, cold_passes);
  const LowRankPosterior<T> nothing(size_, rank_);
  LowRankPosterior<T> found(size_, rank_);  // no posterior: its diagonal may have zeros
  Scratch scratch;
  found.fast_eig(nothing, 0, *step.curvature.rows, step.curvature.w, projection,
                 {form.seed, Stream::range_finder, form.step, 0}, scratch);
  found.correct_diagonal(nothing, 0, 1, *step.curvature.rows, step.curvature.w, {});
  std::copy_n(found.u().data, size_ * rank_, u_.data());
  std::ranges::copy(found.d(), r_.data());
}

/// With d = s r + lambda, V = sqrt(s) U, M = I + V^T diag(1/d) V = L L^T and c_i = L^-1 v_i sqrt(lambda_i) /
/// d_i: K_ij = [i = j] lambda_i / d_i - c_i^T c_j.
template <class T>
void LowRankCurvature<T>::sums(const GroupedPrecisions& prior, double s, bool by_groups,
                               EvidenceSums& out) const {
  const Index size = size_, rank = rank_, groups = by_groups ? prior.groups() : 0;
  out.clear(groups);
  Buffer<double> of_columns, of_core, of_squares;
  const MatrixView<double> c = of_columns.matrix(rank, size), core = of_core.matrix(rank, rank),
                           squares = of_squares.matrix(rank * rank, std::max<Index>(groups, 1));
  std::vector<double> kept(static_cast<std::size_t>(size));  // lambda / d
  for (Index i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double lambda = prior.at(at), d = s * static_cast<double>(r()[at]) + lambda;
    kept[at] = lambda / d;
    out.log_det -= std::log(kept[at]);
    for (Index k = 0; k < rank; ++k) c(k, i) = std::sqrt(s / d) * static_cast<double>(u()(i, k));
  }
  if (rank > 0) {
    syrk(Op::none, 1.0, ConstMatrixView<double>(c), 0.0, core);
    for (Index k = 0; k < rank; ++k) core(k, k) += 1;
    if (!cholesky(core)) fail_not_positive("precision");
    out.log_det += log_det_from_cholesky(core);
    solve_lower_left(Op::none, core, c);
    std::fill_n(squares.data, squares.size(), 0.0);
  }
  for (Index i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double length = 0;
    for (Index k = 0; k < rank; ++k) {
      c(k, i) *= std::sqrt(kept[at]);
      length += c(k, i) * c(k, i);
    }
    out.effective += 1 - kept[at] + length;
    const Index g = prior.group[at];
    if (!by_groups || g < 0) continue;
    out.traces[static_cast<std::size_t>(g)] += 1 - kept[at] + length;
    out.square(g, g) += kept[at] * (kept[at] - 2 * length);
    for (Index k = 0; k < rank; ++k)
      for (Index l = 0; l < rank; ++l) squares(k * rank + l, g) += c(k, i) * c(l, i);
  }
  if (rank == 0) return;
  for (Index g = 0; g < groups; ++g)
    for (Index h = 0; h < groups; ++h)
      for (Index k = 0; k < rank * rank; ++k) out.square(g, h) += squares(k, g) * squares(k, h);
}

template <class T>
void LowRankCurvature<T>::write(const Prior<T>& prior, double s, Posterior<T>& q) const {
  PosteriorStep<T> step{q};
  prior.enter_without_rows(step);
  const T factor = static_cast<T>(s), root = static_cast<T>(std::sqrt(s));
  Buffer<T> d(size_), scaled(size_ * rank_);
  for (Index i = 0; i < size_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    d.data()[i] = step.prior_precision[at] + factor * r()[at];
  }
  std::ranges::transform(u_.first(size_ * rank_), scaled.data(), [=](T value) { return root * value; });
  static_cast<LowRankPosterior<T>&>(q).set_precision(std::as_const(scaled).matrix(size_, rank_),
                                                     std::as_const(d).first(size_));
}

template class LowRankCurvature<float>;
template class LowRankCurvature<double>;

}  // namespace bdl
