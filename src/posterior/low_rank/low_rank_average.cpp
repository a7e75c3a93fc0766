// SLANG-OnlineEig (Mishkin et al. 2018, appendix B; docs/mathematics/natural-gradients.md,
// "SLANG-OnlineEig"): the factor is a moving average of the eigenpairs of each curvature alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/parallel.hpp"
#include "posterior/full/updated_factor.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {
namespace {

template <class T>
double norm(ConstSpan<T> column) {
  double sum = 0;
  for (const T value : column) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// products holds U^T V on entry; a column of zeros has no direction, and cosine 0.
template <class T>
void scale_to_cosines(ConstMatrixView<T> u, ConstMatrixView<T> v, MatrixView<double> products) {
  for (Index k = 0; k < u.cols; ++k) {
    const double of_u = norm(u.column(k)), of_v = norm(v.column(k));
    for (Index i = 0; i < u.cols; ++i) {
      if (of_u > 0) products(k, i) /= of_u;
      if (of_v > 0) products(i, k) /= of_v;
    }
  }
}

struct Pair {
  Index u, v;
  double cosine;
};

/// The pair of columns with the largest |cosine|; both are taken then.
Pair take_nearest(MatrixView<double> cosines) {
  constexpr double taken = std::numeric_limits<double>::quiet_NaN();
  Pair nearest{-1, -1, 0};
  for (Index j = 0; j < cosines.cols; ++j)
    for (Index i = 0; i < cosines.rows; ++i)
      if (nearest.u < 0 ? !std::isnan(cosines(i, j)) : std::abs(cosines(i, j)) > std::abs(nearest.cosine))
        nearest = {i, j, cosines(i, j)};
  if (nearest.u < 0) fail(Status::ERROR_DIVERGED, "the posterior precision is not finite");
  for (Index k = 0; k < cosines.rows; ++k) cosines(nearest.u, k) = cosines(k, nearest.v) = taken;
  return nearest;
}

}  // namespace

template <class T>
void LowRankPosterior<T>::reserve_average(const StepSize& step, UpdateWorkspace<T>& workspace) const {
  const ProjectionSize size = size_of_average(step.rows);
  workspace.weights.reserve(step.rows.count);
  workspace.projection.reserve(size, step.projection);
  UpdatedFactor<T>::reserve(size, 0, step.rows, step.projection, workspace);
  workspace.vectors.reserve(this->dimension_ * rank_);
  workspace.squares.reserve(rank_ * rank_);
  workspace.scratch.tall.reserve(this->dimension_, rank_, rank_);
}

/// U' = (1 - b) U + b Q_L Lambda_L^1/2, each eigenvector beside the column it is nearest to, its sign turned;
/// the diagonal gets what the eigenpairs leave of the curvature's.
template <class T>
void LowRankPosterior<T>::average_rows(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  if (step.prior_precision.empty())
    fail(Status::ERROR_UNSUPPORTED, "option low_rank_update \"moving_average\" is for batches");
  const auto& old = dynamic_cast<const LowRankPosterior&>(step.from);
  Rows<T>& rows = *step.curvature.rows;
  const auto w = scaled_weights(step, workspace);
  UpdatedFactor<T> factor({nullptr, this->dimension_, 0}, 1, rows, w, workspace);
  const ProjectionSize size = size_of_average(rows.cost());
  const auto v = workspace.vectors.matrix(this->dimension_, rank_);  // sqrt(b) Q_L Lambda_L^1/2
  project(factor, size, old, step, v, workspace);
  rows.sum_squares(w, d_.first(this->dimension_));
  add_row_squares<T>(v, -1, d_.first(this->dimension_));
  correct_diagonal(old, step);

  const auto cosines = workspace.squares.matrix(rank_, rank_);
  tall_project<T>(old.u(), v, {}, Divide::by_d, cosines, workspace.scratch.tall);
  scale_to_cosines<T>(old.u(), v, cosines);
  const T keep = static_cast<T>(1 - step.curvature_rate);
  for (Index k = 0; k < rank_; ++k) {
    const Pair pair = take_nearest(cosines);
    const T add = static_cast<T>(std::copysign(std::sqrt(step.curvature_rate), pair.cosine));
    const T *before = old.u().column_data(pair.u), *found = v.column_data(pair.v);
    T* after = u_.data() + pair.u * this->dimension_;
    for_each_index(this->dimension_,
                   [=](Index i) BDL_INLINE_LAMBDA { after[i] = keep * before[i] + add * found[i]; });
  }
  factorize(workspace.scratch.tall);
  move_mean(step, workspace.scratch);
}

template void LowRankPosterior<float>::reserve_average(const StepSize&, UpdateWorkspace<float>&) const;
template void LowRankPosterior<double>::reserve_average(const StepSize&, UpdateWorkspace<double>&) const;
template void LowRankPosterior<float>::average_rows(const PosteriorStep<float>&, UpdateWorkspace<float>&);
template void LowRankPosterior<double>::average_rows(const PosteriorStep<double>&, UpdateWorkspace<double>&);

}  // namespace bdl
