#include "train/approximate/laplace.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "curvature/data_rows.hpp"
#include "curvature/summed_rows.hpp"
#include "methods/schedule.hpp"
#include "parallel/parallel.hpp"
#include "posterior/blocks/blocks.hpp"
#include "ranks/sharded_rows.hpp"
#include "train/approximate/kronecker_laplace.hpp"

namespace bdl {
namespace {

// The range finder starts from nothing, not from the factor of the step before.
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

/// One natural step of rate 1 from the prior: Sigma^-1 = 0 Lambda_0 + H + Lambda_0, projected to the family.
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

/// Matrices of a family of dense ones; none: the diagonal.
template <class T>
std::vector<DiagonalBlock> blocks_of(const Posterior<T>& q) {
  if (q.is_diagonal()) return {};
  if (q.family() == Family::full) return {{0, q.dimension()}};
  std::vector<DiagonalBlock> blocks;
  const auto& all = as_blocks(q);
  for (Index k = 0; k < all.block_count(); ++k) blocks.push_back({all.offset(k), all.member(k).dimension()});
  return blocks;
}

template <class T>
void write_curvature(DataRows<T>& rows, const std::vector<DiagonalBlock>& blocks, std::span<double> out) {
  if (blocks.empty()) {
    Buffer<T> diagonal(rows.dimension());
    rows.sum_squares(rows.weights(), diagonal.first(rows.dimension()));
    std::ranges::copy(std::as_const(diagonal).first(rows.dimension()), out.begin());
    return;
  }
  double* to = out.data();
  for (const auto& [offset, size] : blocks) {
    Rows<T>& part = blocks.size() == 1 ? static_cast<Rows<T>&>(rows) : rows.part(offset, size);
    part.add_outer(rows.weights(), {to, size, size});
    to += size * size;
  }
}

/// The same by the sums of shards, over ranks.
template <class T>
std::unique_ptr<Posterior<T>> laplace_by_sums(Optimizer<T>& optimizer, DataSet& data, double weight,
                                              Index shards) {
  Team& team = optimizer.team;
  const Posterior<T>& q = *optimizer.posterior();
  const std::vector<DiagonalBlock> blocks = blocks_of(q);
  Index numbers = blocks.empty() ? q.dimension() : 0;
  for (const DiagonalBlock& block : blocks) numbers += block.size * block.size;
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
  SummedRows<T> summed(q.dimension(), blocks, sums.values());
  return step_from_prior<T>(optimizer, {&summed, summed.weights(), {}, {}});
}

/// The rows themselves, over ranks: joined where a Gram matrix of all of them is within reach.
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
  if (shards == 1) return laplace_by_rows(optimizer, data, weight);
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
