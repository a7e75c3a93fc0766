#include "train/sharding.hpp"

#include <bit>

#include "base/hash.hpp"
#include "bdl/version.h"
#include "parallel/blas_info.hpp"
#include "posterior/tensors.hpp"

namespace bdl {
namespace {

std::uint32_t folded(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::uint64_t hash_option(const Options& options, const OptionInfo& info) {
  Hash hash;
  if (info.type == OptionType::real)
    hash.add(options.*info.real);
  else if (info.type == OptionType::integer)
    hash.add(static_cast<std::uint64_t>(options.*info.integer));
  else
    hash.add(static_cast<std::uint64_t>(info.choice(options)));
  return hash.value();
}

/// Returns the hash of all options, and writes one per option. The number of threads may differ.
std::uint64_t hash_options(const Options& options, std::span<std::uint32_t> each) {
  Hash all;
  const auto table = option_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const bool counts = table[i].integer != &Options::threads;
    const std::uint64_t hash = counts ? hash_option(options, table[i]) : 0;
    each[i] = folded(hash);
    all.add(hash);
  }
  return all.value();
}

void add_state(Hash& hash, const TrainingState& s) {
  hash.add_all({s.learning_step, s.plan.begin, s.plan.end, s.epoch, s.batch, s.examples, s.batches,
                s.fit_end_epoch, s.running_steps, s.shortened_steps, s.guarded_steps, s.snapshots,
                s.rate_cuts, s.watch.steps, s.convergence.steps, s.is_fresh ? 1 : 0});
  for (const double value : {s.running_log_likelihood, s.start_weight, s.watch.misfit, s.watch.baseline,
                             s.watch.first_ratio, s.convergence.first, s.convergence.average})
    hash.add(value);
}

template <class T>
void add_posterior(Hash& hash, const Posterior<T>& q) {
  for (const auto& tensor : tensors_of(q)) tensor.with([&](const auto& values) { hash.add(values); });
  hash.add(q.statistics());
}

template <class T>
void add_moments(Hash& hash, const Moments<T>& moments) {
  hash.add(static_cast<std::uint64_t>(moments.steps));
  if (moments.steps == 0) return;
  hash.add(moments.first.first(moments.size));
  if (moments.has_second()) hash.add(moments.second.first(moments.size));
}

template <class T>
void add_kronecker(Hash& hash, const KroneckerAverages<T>& averages, const Posterior<T>& q) {
  hash.add(static_cast<std::uint64_t>(averages.steps));
  if (averages.steps == 0) return;
  hash.add(averages.momentum.first(q.dimension()));
  hash.add(averages.factors.values());
  hash.add(averages.eigenvalues.first(eigenvalue_count(averages.factors.shapes())));
  hash.add(averages.point_squares.first(q.point_parameters().parameters()));
}

template <class T>
void add_snapshots(Hash& hash, const Snapshots<T>& snapshots, Index count, const Posterior<T>& q) {
  if (count == 0) return;
  hash.add(snapshots.mean(q.dimension()));
  hash.add(snapshots.squares(q.dimension()));
  hash.add(snapshots.deviations(q.dimension(), q.rank()).columns(0, std::min(count, q.rank())));
}

/// Adds the moving averages that steps keep beside the posterior.
template <class T>
void add_averages(Hash& hash, const Optimizer<T>& optimizer) {
  const Posterior<T>& q = *optimizer.posterior();
  add_moments(hash, optimizer.averages.moments.now());
  if (const TiedScales<T>& tied = optimizer.averages.tied; tied.has_values()) hash.add(tied.values());
  if (optimizer.averages.momentum.steps() > 0) hash.add(optimizer.averages.momentum.values());
  hash.add(optimizer.averages.point_squares.average(q.point_parameters().parameters()));
  add_kronecker(hash, optimizer.averages.kfac.now(), q);
  add_snapshots(hash, optimizer.snapshots, optimizer.state.snapshots, q);
}

void add_likelihood(Hash& hash, const Likelihood& likelihood) {
  hash.add_all(
      {likelihood.kind(), likelihood.noise_is_set() ? 1 : 0, likelihood.log_precision_is_free() ? 1 : 0});
  hash.add(ConstSpan<double>(likelihood.noise_precision()));
  if (likelihood.noise_covariance().given()) {
    const ConstMatrixView<double> noise = likelihood.noise_covariance().covariance();
    hash.add(ConstSpan<double>(noise.data, static_cast<std::size_t>(noise.size())));
  }
  if (std::isfinite(likelihood.limit())) hash.add(likelihood.limit());
  if (likelihood.kind() == BDL_STUDENT_T) hash.add(likelihood.degrees_of_freedom());
  if (!likelihood.shape().empty()) hash.add(likelihood.shape());
}

/// Returns the hash of the sizes together with those of the data's blocks.
std::uint64_t with_blocks(std::uint64_t shapes, const RowBlocks& blocks) {
  for (const Index number : {blocks.rows, blocks.window})
    shapes = (shapes ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
  return shapes;
}

}  // namespace

template <class T>
Agreement agreement(const Optimizer<T>& optimizer, Call call, Index rows, Index epochs, Index shards,
                    bool whole, std::span<std::uint32_t> option_hashes) {
  const Posterior<T>& q = *optimizer.posterior();
  const Model<T>& model = *optimizer.model();
  const Prior<T>& prior_of = optimizer.prior();
  Hash version, shapes, prior, posterior;
  version.add(std::string_view(BDL_VERSION_STRING));
  version.add(std::string_view(blas_kernels()));
  version.add(static_cast<std::uint64_t>(widest_simd()));
  shapes.add(std::string_view(optimizer.method().name));
  shapes.add_all({optimizer.data_size(), rows, epochs, q.dimension(), static_cast<Index>(q.family()),
                  q.rank(), model.inputs(), model.outputs(), model.likelihood.columns(), model.offsets(),
                  static_cast<Index>(model.likelihood.kind()), std::ssize(q.statistics())});
  for (const ParameterBlock& block : optimizer.blocks())
    shapes.add_all({block.offset, block.rows, block.cols});
  shapes.add(model.standardization.inputs().mean);
  shapes.add(model.standardization.inputs().scale);
  shapes.add(model.standardization.targets().mean);
  shapes.add(model.standardization.targets().scale);
  prior.add(prior_of.groups());
  prior.add(static_cast<std::uint64_t>(prior_of.is_fixed() ? 1 : 0));
  if (whole && prior_of.is_fixed()) prior.add(prior_of.precision());
  if (whole && prior_of.posterior()) add_posterior(prior, *prior_of.posterior());
  add_likelihood(posterior, model.likelihood);
  add_state(posterior, optimizer.state);
  posterior.add(static_cast<std::uint64_t>(q.is_blank() ? 1 : 0));
  if (whole) {
    add_posterior(posterior, q);
    add_averages(posterior, optimizer);
  }
  return {static_cast<std::uint8_t>(call),
          static_cast<std::uint8_t>(sizeof(T)),
          static_cast<std::uint16_t>(shards),
          folded(version.value()),
          hash_options(optimizer.options(), option_hashes),
          shapes.value(),
          prior.value(),
          static_cast<std::uint64_t>(optimizer.state.step),
          posterior.value()};
}

template <class T>
void agree(Optimizer<T>& optimizer, Call call, Index rows, Index epochs, Index shards,
           const RowBlocks& blocks) {
  Team& team = optimizer.team;
  if (team.is_alone()) return;
  std::vector<std::uint32_t> hashes;
  Agreement mine;
  team.attempt([&] {
    hashes.resize(option_table().size());
    mine = agreement(optimizer, call, rows, epochs, shards, call != Call::step, hashes);
    if (blocks.given()) mine.shapes = with_blocks(mine.shapes, blocks);
  });
  team.agree(mine, hashes, [](Index i) { return option_table()[static_cast<std::size_t>(i)].name; });
}

template <class T>
void set_communicator(Optimizer<T>& optimizer, std::shared_ptr<Communicator> communicator) {
  if (communicator) {
    if (!optimizer.model()) fail(Status::ERROR_UNSUPPORTED, "the optimizer was created without a model");
    const Combination asked = optimizer.combination(optimizer.options());
    if (communicator->size() > 1 || optimizer.method().kind != MethodKind::batch) check_sums(asked);
  }
  optimizer.team.join(std::move(communicator));
  if (optimizer.memory.sharded) optimizer.memory.sharded->forget_ranks();
}

template <class T>
Index planned_shards(const Optimizer<T>& optimizer) {
  if (optimizer.options().shards > 0) return optimizer.options().shards;
  if (optimizer.state.shards > 0) return optimizer.state.shards;
  return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(optimizer.team.size())));
}

template <class T>
void check_shards(const Optimizer<T>& optimizer) {
  const Index shards = planned_shards(optimizer), ranks = optimizer.team.size();
  if (shards < ranks)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "there are %lld processes, but training has %lld shards, expected at least one for each process "
         "(option "
         "\"shards\")",
         static_cast<long long>(ranks), static_cast<long long>(shards));
  if (shards > 1) check_sums(optimizer.combination(optimizer.options()));
}

template <class T>
void check_same_shards(const Optimizer<T>& optimizer, Index shards) {
  const TrainingState& state = optimizer.state;
  if (state.epoch < state.fit_end_epoch && state.shards > 0 && state.shards != shards)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "option \"shards\" is %lld, but the interrupted fit has %lld: it goes on with these",
         static_cast<long long>(shards), static_cast<long long>(state.shards));
}

#define BDL_INSTANTIATE(T)                                                           \
  template Agreement agreement(const Optimizer<T>&, Call, Index, Index, Index, bool, \
                               std::span<std::uint32_t>);                            \
  template void agree(Optimizer<T>&, Call, Index, Index, Index, const RowBlocks&);   \
  template void set_communicator(Optimizer<T>&, std::shared_ptr<Communicator>);      \
  template Index planned_shards(const Optimizer<T>&);                                \
  template void check_shards(const Optimizer<T>&);                                   \
  template void check_same_shards(const Optimizer<T>&, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
