#include "train/approximate/swag.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "network/graph.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "posterior/point_parameters.hpp"
#include "ranks/tree_sums.hpp"

namespace bdl {
namespace {

/// Smallest variance, for parameters that no example moves.
constexpr double tiny = 1e-30;

/// Returns the number of steps from one snapshot to the next. The default is an epoch, or fewer steps if
/// columns of W would lack a deviation otherwise (the first deviation is 0).
template <class T>
Index interval(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  if (options.swag_every > 0) return options.swag_every;
  const Plan& plan = optimizer.state.plan;
  const Index steps = plan.end - swag_begin(options, plan), columns = optimizer.posterior()->rank();
  return std::max<Index>(1, std::min(optimizer.state.batches, steps / (columns + 1)));
}

[[noreturn]] void fail_too_few(Index snapshots) {
  fail(Status::ERROR_INVALID_ARGUMENT,
       "SWAG would have %lld snapshots, expected 2 or more: more epochs, a smaller option \"swag_from\" or "
       "\"swag_every\"",
       static_cast<long long>(snapshots));
}

/// Computes running statistics by one pass over minibatches at one mean.
template <class T>
class StatisticsPass {
 public:
  StatisticsPass(const Model<T>& model, ConstSpan<T> mean, DataSet& data)
      : model_(model), graph_(*model.graph()), theta_(mean.data(), std::ssize(mean), 1), data_(data) {}
  /// Runs through a shard's minibatches; `running` holds the statistics before and after.
  void run(Strata& strata, Index shard, Index epoch, std::span<double> running) {
    const Index most = strata.largest_of(shard), targets = model_.likelihood.columns();
    x_.reserve(model_.inputs() * most);
    y_.reserve(targets * most);
    f_.reserve(model_.outputs() * most);
    for (Index number = 0; number < strata.batches(); ++number) {
      check_interrupt();
      const auto batch = strata.rows_of(shard, epoch, number);
      const auto count = static_cast<Index>(batch.size());
      const auto columns = x_.matrix(model_.inputs(), count);
      data_.fetch(batch, model_.standardization, columns, y_.matrix(targets, count));
      graph_.forward(theta_, columns, tape_, f_.matrix(model_.outputs(), count), nullptr, {running, running});
    }
  }

 private:
  const Model<T>& model_;
  const Graph<T>& graph_;
  ConstMatrixView<T> theta_;
  DataSet& data_;
  Tape<T> tape_;
  Buffer<T> x_, y_, f_;
};

/// Renews the statistics at the posterior's mean as training would, each shard's weighted by its fraction of
/// the data.
template <class T>
void renew_statistics(Optimizer<T>& optimizer, DataSet& data, Strata& strata, Posterior<T>& q) {
  const std::span<double> running = q.statistics();
  if (running.empty()) return;
  Team& team = optimizer.team;
  const Index shards = optimizer.state.shards;
  StatisticsPass<T> pass(*optimizer.model(), std::as_const(q).mean(), data);
  TreeSums<double> sums;
  sums.reserve(team.rank(), team.size(), shards, std::ssize(running), 0);
  add_up(team, sums, [&](Index shard, std::span<double> out) {
    std::ranges::copy(running, out.begin());
    pass.run(strata, shard, optimizer.state.epoch, out);
    const double share =
        static_cast<double>(part_of(shard, shards, data.rows()).count()) / static_cast<double>(data.rows());
    for (double& value : out) value *= share;
  });
  std::ranges::copy(sums.values(), running.begin());
}

}  // namespace

template <class T>
void Snapshots<T>::add(ConstSpan<T> theta, Index n, Index rank) {
  const auto dimension = static_cast<Index>(theta.size());
  const double share = 1 / static_cast<double>(n + 1);
  const T* const from = theta.data();
  double *const mean = mean_.first(dimension).data(), *const squares = squares_.first(dimension).data();
  T* const deviation = deviations_.matrix(dimension, rank).column_data(n % rank);
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    const double value = static_cast<double>(from[i]), before = n > 0 ? mean[i] : 0, gap = value - before,
                 after = before + share * gap;
    mean[i] = after;
    squares[i] = (n > 0 ? squares[i] : 0) + gap * (value - after);
    deviation[i] = static_cast<T>(value - after);
  });
}

template <class T>
void check_swag(const Optimizer<T>& optimizer) {
  const Plan& plan = optimizer.state.plan;
  const Index first = swag_begin(optimizer.options(), plan);
  const Index planned = std::max<Index>(0, plan.end - first) / interval(optimizer);
  if (planned < 2 && optimizer.state.step < plan.end) fail_too_few(planned);
}

template <class T>
void take_snapshot(Optimizer<T>& optimizer) {
  TrainingState& state = optimizer.state;
  const Index since = state.step - swag_begin(optimizer.options(), state.plan);
  if (since <= 0 || since % interval(optimizer) != 0) return;
  const Posterior<T>& q = *optimizer.posterior();
  const ThreadLimit threads(optimizer.options().threads);
  optimizer.snapshots.add(q.mean(), state.snapshots, q.rank());
  ++state.snapshots;
}

/// Sets Sigma = diag(t2 - t1^2) / 2 + D D^T / (2 (K - 1)) with the K deviations collected so far.
template <class T>
void take_swag(Optimizer<T>& optimizer, DataSet& data, Strata& strata) {
  const TrainingState& state = optimizer.state;
  if (optimizer.options().total_steps > 0 && state.step < state.plan.end)
    return;  // the course continues in another fit
  if (state.snapshots < 2) fail_too_few(state.snapshots);
  const Posterior<T>& q = *optimizer.posterior();
  const Index dimension = q.dimension(), rank = q.rank(), kept = std::min(rank, state.snapshots);
  const ThreadLimit threads(optimizer.options().threads);
  const Snapshots<T>& snapshots = optimizer.snapshots;
  const ConstSpan<double> t1 = snapshots.mean(dimension), squares = snapshots.squares(dimension);
  const double share = 1 / static_cast<double>(state.snapshots),
               scale = 1 / std::sqrt(2 * static_cast<double>(kept - 1));
  auto next = q.clone();
  auto& moments = dynamic_cast<LowRankMomentPosterior<T>&>(*next);
  std::ranges::transform(t1, moments.mean().begin(), [](double value) { return static_cast<T>(value); });
  std::ranges::transform(squares, moments.s().begin(),
                         [=](double sum) { return static_cast<T>(std::max(share * sum, tiny) / 2); });
  for (Index k = 0; k < rank; ++k)
    std::ranges::transform(snapshots.deviations(dimension, rank).column(k), moments.w().column(k).begin(),
                           [=](T value) { return k < kept ? static_cast<T>(scale) * value : T(0); });
  Scratch scratch;
  moments.factorize(scratch);
  isolate_point_parameters(*next);
  renew_statistics(optimizer, data, strata, *next);
  optimizer.team.vote();
  next->set_blank(false);
  optimizer.posterior()->swap(*next);
  optimizer.watch.forget();
}

#define BDL_INSTANTIATE(T)                       \
  template class Snapshots<T>;                   \
  template void check_swag(const Optimizer<T>&); \
  template void take_snapshot(Optimizer<T>&);    \
  template void take_swag(Optimizer<T>&, DataSet&, Strata&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
