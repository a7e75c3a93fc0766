// Steps and time change all blocks, each by a step with its range of the loss's derivatives.
#include <algorithm>

#include "base/error.hpp"
#include "posterior/blocks/blocks.hpp"

namespace bdl {
namespace {

/// Returns the prior of block k, of a posterior with the same blocks.
template <class T>
const Posterior<T>& prior_of(const PosteriorStep<T>& step, const BlocksPosterior<T>& from, Index k) {
  const BlocksPosterior<T>& prior = as_blocks(*step.prior);
  if (!from.has_blocks_of(prior))
    fail(Status::ERROR_UNSUPPORTED, "the prior's blocks are not those of the posterior");
  return prior.member(k);
}

/// Only rows of a minibatch have ranges; a curvature that is added up over a data set has matrices.
template <class T>
Rows<T>& rows_of_block(Rows<T>& rows, Index offset, Index size) {
  return dynamic_cast<ExampleRows<T>&>(rows).part(offset, size);
}

}  // namespace

/// Returns the step of block k, but for curvature rows.
template <class T>
PosteriorStep<T> BlocksPosterior<T>::step_of(Index k, const PosteriorStep<T>& step, Scratch& scratch) const {
  const BlocksPosterior& from = as_blocks(step.from);
  PosteriorStep<T> block{from.member(k)};
  block.descent = step.descent;
  block.m = range_of(k, step.m);
  block.mean_rate = step.mean_rate;
  block.curvature_rate = step.curvature_rate;
  if (step.prior) block.prior = step.at_prior() ? &block.from : &prior_of(step, from, k);
  block.prior_precision = range_of(k, step.prior_precision);
  block.mean_update = step.mean_update;
  block.low_rank_update = step.low_rank_update;
  block.goes_on = step.goes_on;
  block.indefinite = step.indefinite;
  block.factor_update = step.factor_update;
  block.projection = step.projection;
  block.random = step.random;
  block.random.sample += static_cast<std::uint32_t>(k) << 12;  // directions of its own
  block.point_parameters = &from.point_parameters();
  block.first_parameter = offset(k);
  block.curvature.w = step.curvature.w;
  block.curvature.diagonal = range_of(k, step.curvature.diagonal);
  const Index size = member(k).dimension();
  if (!step.curvature.blocks.empty()) {
    const double* numbers = step.curvature.blocks.data();
    for (Index before = 0; before < k; ++before)
      numbers += member(before).dimension() * member(before).dimension();
    block.curvature.matrix = {numbers, size, size};
  }
  const ConstMatrixView<double> matrix = step.curvature.matrix;
  if (matrix.data && member(k).takes_matrix()) {
    block.curvature.matrix = matrix.block(offset(k), offset(k), size, size);
  } else if (matrix.data) {
    const auto diagonal = scratch.take<T>(size);
    for (Index i = 0; i < size; ++i) diagonal[at(i)] = static_cast<T>(matrix(offset(k) + i, offset(k) + i));
    block.curvature.diagonal = diagonal;
  }
  return block;
}

template <class T>
double BlocksPosterior<T>::update(const PosteriorStep<T>& step, Scratch& scratch) {
  double least = 1;
  for (Index k = 0; k < block_count(); ++k) {
    const Scratch::Frame frame(scratch);
    PosteriorStep<T> block = step_of(k, step, scratch);
    Posterior<T>& to = member(k);
    if (Rows<T>* const rows = step.curvature.rows)
      block.curvature.rows = block_count() == 1 ? rows : &rows_of_block(*rows, offset(k), to.dimension());
    least = std::min(least, to.update(block, scratch));
  }
  return least;
}

template <class T>
void BlocksPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift, Scratch& scratch) {
  const BlocksPosterior& old = as_blocks(from);
  for (Index k = 0; k < block_count(); ++k)
    members_[static_cast<std::size_t>(k)]->drift(
        old.member(k), {drift.transition, drift.inflation, range_of(k, drift.noise)}, scratch);
}

template double BlocksPosterior<float>::update(const PosteriorStep<float>&, Scratch&);
template double BlocksPosterior<double>::update(const PosteriorStep<double>&, Scratch&);
template void BlocksPosterior<float>::drift(const Posterior<float>&, const Drift<float>&, Scratch&);
template void BlocksPosterior<double>::drift(const Posterior<double>&, const Drift<double>&, Scratch&);

}  // namespace bdl
