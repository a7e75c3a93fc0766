// What changes all blocks: each by a step of its own, with what of the loss's derivatives is its own.
#include <algorithm>

#include "base/error.hpp"
#include "posterior/blocks/blocks.hpp"

namespace bdl {
namespace {

/// The prior of block k: that of a posterior with the same blocks.
template <class T>
const Posterior<T>& prior_of(const PosteriorStep<T>& step, const BlocksPosterior<T>& from, Index k) {
  const BlocksPosterior<T>& prior = as_blocks(*step.prior);
  if (!from.has_blocks_of(prior))
    fail(Status::ERROR_UNSUPPORTED, "the prior's blocks are not those of the posterior");
  return prior.member(k);
}

}  // namespace

/// All but the curvature.
template <class T>
PosteriorStep<T> BlocksPosterior<T>::step_of(Index k, const PosteriorStep<T>& step,
                                             UpdateWorkspace<T>& workspace) const {
  const BlocksPosterior& from = as_blocks(step.from);
  PosteriorStep<T> own{from.member(k)};
  own.descent = step.descent;
  own.m = part(k, step.m);
  own.mean_rate = step.mean_rate;
  own.curvature_rate = step.curvature_rate;
  if (step.prior) own.prior = step.at_prior() ? &own.from : &prior_of(step, from, k);
  own.prior_precision = part(k, step.prior_precision);
  own.mean_update = step.mean_update;
  own.low_rank_update = step.low_rank_update;
  own.goes_on = step.goes_on;
  own.indefinite = step.indefinite;
  own.projection = step.projection;
  own.random = step.random;
  own.random.sample += static_cast<std::uint32_t>(k) << 12;  // directions of its own
  own.points = &from.points();
  own.first_parameter = offset(k);
  own.curvature.w = step.curvature.w;
  own.curvature.diagonal = part(k, step.curvature.diagonal);
  const Index size = member(k).dimension();
  const ConstMatrixView<double> matrix = step.curvature.matrix;
  if (matrix.data && member(k).takes_matrix()) {
    own.curvature.matrix = matrix.block(offset(k), offset(k), size, size);
  } else if (matrix.data) {
    workspace.diagonal.reserve(size);
    for (Index i = 0; i < size; ++i)
      workspace.diagonal.data()[i] = static_cast<T>(matrix(offset(k) + i, offset(k) + i));
    own.curvature.diagonal = workspace.diagonal.first(size);
  }
  return own;
}

template <class T>
double BlocksPosterior<T>::take(const PosteriorStep<T>& step, UpdateWorkspace<T>& workspace) {
  double least = 1;
  for (Index k = 0; k < block_count(); ++k) {
    PosteriorStep<T> own = step_of(k, step, workspace);
    Posterior<T>& to = *members_[static_cast<std::size_t>(k)];
    if (!step.curvature.rows) {
      least = std::min(least, to.take(own, workspace));
      continue;
    }
    own.curvature.rows =
        block_count() == 1 ? step.curvature.rows : &step.curvature.rows->part(offset(k), to.dimension());
    least = std::min(least, to.take(own, workspace));
  }
  return least;
}

template <class T>
void BlocksPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift,
                               UpdateWorkspace<T>& workspace) {
  const BlocksPosterior& old = as_blocks(from);
  for (Index k = 0; k < block_count(); ++k)
    members_[static_cast<std::size_t>(k)]->drift(
        old.member(k), {drift.transition, drift.inflation, part(k, drift.noise)}, workspace);
}

template double BlocksPosterior<float>::take(const PosteriorStep<float>&, UpdateWorkspace<float>&);
template double BlocksPosterior<double>::take(const PosteriorStep<double>&, UpdateWorkspace<double>&);
template void BlocksPosterior<float>::drift(const Posterior<float>&, const Drift<float>&,
                                            UpdateWorkspace<float>&);
template void BlocksPosterior<double>::drift(const Posterior<double>&, const Drift<double>&,
                                             UpdateWorkspace<double>&);

}  // namespace bdl
