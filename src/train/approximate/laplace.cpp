#include "train/approximate/laplace.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "curvature/data_rows.hpp"
#include "methods/schedule.hpp"
#include "parallel/parallel.hpp"
#include "posterior/blocks/blocks.hpp"
#include "ranks/sharded_rows.hpp"
#include "train/approximate/kronecker_laplace.hpp"

namespace bdl {
namespace {

// Least number of passes of the range finder, which has no factor of an earlier step to start from.
constexpr Index cold_passes = 12;

}  // namespace

template <class T>
void check_laplace(const Optimizer<T>& optimizer, Index examples) {
  const Posterior<T>& q = *optimizer.posterior();
  check_laplace_family(q.family());
  const EigenMethod method = projection_options(optimizer.options()).method;
  if (q.family() == Family::low_rank && q.rank() > 0 && method == EigenMethod::gram &&
      !DataRows<T>::has_gram(*optimizer.model(), examples))
    fail(Status::ERROR_UNSUPPORTED,
         "%lld examples are too many for the Gram matrix that option \"eigen_method\" asks of Laplace's "
         "approximation",
         static_cast<long long>(examples));
}

namespace {

/// Returns the posterior after one natural-gradient step of rate 1 from the prior, projected to the family:
/// Sigma^-1 = H + Lambda_0 at the present mean.
template <class T>
std::unique_ptr<Posterior<T>> step_from_prior(Optimizer<T>& optimizer, const Curvature<T>& curvature) {
  const Posterior<T>& q = *optimizer.posterior();
  const Options& options = optimizer.options();
  const auto prior = q.clone();
  auto next = q.clone();
  prior->set_diagonal(optimizer.prior().precision(), {});
  Buffer<T> zeros(q.dimension());
  std::fill_n(zeros.data(), q.dimension(), T(0));
  PosteriorStep<T> step{*prior};
  step.m = zeros.first(q.dimension());
  step.mean_rate = 0;
  step.curvature = curvature;
  optimizer.prior().enter(step);
  step.projection = projection_options(options);
  step.projection.passes = std::max(step.projection.passes, cold_passes);
  step.random = {static_cast<std::uint64_t>(options.seed), Stream::range_finder,
                 static_cast<std::uint64_t>(optimizer.state.step), 0};
  Scratch scratch;
  next->update(step, scratch);
  return next;
}

template <class T>
std::unique_ptr<Posterior<T>> laplace_by_rows(Optimizer<T>& optimizer, DataSet& data, double weight) {
  const Posterior<T>& q = *optimizer.posterior();
  DataRows<T> rows(*optimizer.model(), q.mean(), data, weight, q.statistics());
  return step_from_prior<T>(optimizer, {&rows, rows.weights(), {}, {}});
}

/// Returns the parameters of each dense matrix of the posterior's precision; none if it is diagonal.
template <class T>
std::vector<IndexRange> blocks_of(const Posterior<T>& q) {
  if (q.is_diagonal()) return {};
  if (q.family() == Family::full) return {{0, q.dimension()}};
  std::vector<IndexRange> blocks;
  const auto& all = as_blocks(q);
  for (Index k = 0; k < all.block_count(); ++k)
    blocks.push_back({all.offset(k), all.offset(k) + all.member(k).dimension()});
  return blocks;
}

/// Writes the diagonal of the curvature (without blocks), or its blocks one after the other.
template <class T>
void write_curvature(DataRows<T>& rows, const std::vector<IndexRange>& blocks, std::span<double> out) {
  if (blocks.empty()) {
    Buffer<T> diagonal(rows.dimension());
    rows.sum_squares(rows.weights(), diagonal.first(rows.dimension()));
    std::ranges::copy(std::as_const(diagonal).first(rows.dimension()), out.begin());
    return;
  }
  double* to = out.data();
  for (const IndexRange& block : blocks) {
    const MatrixView<double> matrix(to, block.count(), block.count());
    if (blocks.size() == 1)
      rows.add_outer(rows.weights(), matrix);
    else
      rows.add_block(block, rows.weights(), matrix);
    to += matrix.size();
  }
}

/// Returns the numbers of write_curvature() in the form in which the posterior takes its curvature.
template <class T>
Curvature<T> curvature_of(ConstSpan<double> sums, Index dimension, const std::vector<IndexRange>& blocks,
                          std::span<T> diagonal) {
  Curvature<T> curvature;
  if (blocks.empty()) {
    std::ranges::transform(sums, diagonal.begin(), [](double sum) { return static_cast<T>(sum); });
    curvature.diagonal = diagonal;
  } else if (blocks.size() == 1) {
    curvature.matrix = {sums.data(), dimension, dimension};
  } else {
    curvature.blocks = sums;
  }
  return curvature;
}

/// Adds up the curvature over shards and ranks, and steps from the prior.
template <class T>
std::unique_ptr<Posterior<T>> laplace_by_sums(Optimizer<T>& optimizer, DataSet& data, double weight,
                                              Index shards) {
  Team& team = optimizer.team;
  const Posterior<T>& q = *optimizer.posterior();
  const std::vector<IndexRange> blocks = blocks_of(q);
  Index numbers = blocks.empty() ? q.dimension() : 0;
  for (const IndexRange& block : blocks) numbers += block.count() * block.count();
  TreeSums<double> sums;
  sums.reserve(team.rank(), team.size(), shards, numbers, 0);
  add_up(team, sums, [&](Index shard, std::span<double> out) {
    const ShardRange rows = part_of(shard, shards, data.rows());
    std::ranges::fill(out, 0.0);
    if (rows.count() == 0) return;
    RowRange own(data, rows.first, rows.count());
    DataRows<T> curvature(*optimizer.model(), q.mean(), own, weight, q.statistics());
    write_curvature(curvature, blocks, out);
  });
  Buffer<T> diagonal(q.dimension());
  return step_from_prior<T>(
      optimizer, curvature_of<T>(sums.values(), q.dimension(), blocks, diagonal.first(q.dimension())));
}

/// Steps from the prior by the rows of all ranks, which are joined if their Gram matrix is affordable.
template <class T>
std::unique_ptr<Posterior<T>> laplace_by_shards(Optimizer<T>& optimizer, DataSet& data, double weight,
                                                Index shards) {
  Team& team = optimizer.team;
  const Posterior<T>& q = *optimizer.posterior();
  const Model<T>& model = *optimizer.model();
  if (DataRows<T>::has_gram(model, data.rows())) {
    ShardEstimates<T> shard_estimates(model);
    SeedSpec seeds{CurvatureKind::gauss_newton, weight};
    seeds.statistics = {q.statistics(), {}};
    const Estimate<T> estimate = shard_estimates.join(q.mean(), data, seeds, team, shards);
    return step_from_prior<T>(optimizer, {estimate.rows, estimate.w, {}, {}});
  }
  ShardedRows<T> rows(model, q.mean(), data, weight, q.statistics(), team, shards);
  return step_from_prior<T>(optimizer, {&rows, rows.weights(), {}, {}});
}

template <class T>
std::unique_ptr<Posterior<T>> laplace_of(Optimizer<T>& optimizer, DataSet& data, double weight,
                                         Index shards) {
  const Posterior<T>& q = *optimizer.posterior();
  if (q.family() == Family::kronecker) return kronecker_laplace(optimizer, data, weight, shards);
  const bool is_blocks = q.family() == Family::layerwise_full && as_blocks(q).block_count() > 1;
  if (shards == 1 && !is_blocks) return laplace_by_rows(optimizer, data, weight);
  const bool is_low_rank = q.family() == Family::low_rank && q.rank() > 0;
  return is_low_rank ? laplace_by_shards(optimizer, data, weight, shards)
                     : laplace_by_sums(optimizer, data, weight, shards);
}

}  // namespace

template <class T>
void take_laplace(Optimizer<T>& optimizer, DataSet& data, Index shards) {
  check_laplace(optimizer, data.rows());
  const ThreadLimit threads(optimizer.options().threads);
  const double weight = static_cast<double>(optimizer.data_size()) / static_cast<double>(data.rows());
  std::unique_ptr<Posterior<T>> next;
  {
    const Interruptible work;
    next = laplace_of(optimizer, data, weight, shards);
  }
  optimizer.team.vote();
  next->set_blank(false);
  optimizer.posterior()->swap(*next);
  optimizer.watch.forget();
}

#define BDL_INSTANTIATE(T)                                 \
  template void check_laplace(const Optimizer<T>&, Index); \
  template void take_laplace(Optimizer<T>&, DataSet&, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
