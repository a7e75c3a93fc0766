// What ranks must have in common before they take steps together, as hashes.
#include "base/hash.hpp"
#include "bdl/version.h"
#include "inference/optimizer.hpp"
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

/// Numbers of threads are each rank's own business.
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
                s.fit_end_epoch, s.running_steps, s.momentum_steps, s.shortened_steps, s.guarded_steps,
                s.snapshots, s.rate_cuts, s.watch.steps, s.arrival.steps, s.is_fresh ? 1 : 0});
  for (const double value : {s.running_log_likelihood, s.start_weight, s.watch.misfit, s.watch.baseline,
                             s.watch.first_ratio, s.arrival.first, s.arrival.average})
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
  hash.add(averages.point_squares.first(q.points().parameters()));
}

template <class T>
void add_snapshots(Hash& hash, const Snapshots<T>& snapshots, Index count, const Posterior<T>& q) {
  if (count == 0) return;
  hash.add(snapshots.mean(q.dimension()));
  hash.add(snapshots.squares(q.dimension()));
  hash.add(snapshots.deviations(q.dimension(), q.rank()).columns(0, std::min(count, q.rank())));
}

/// What goes on from step to step beside the posterior.
template <class T>
void add_averages(Hash& hash, const Optimizer<T>& optimizer) {
  const Posterior<T>& q = *optimizer.posterior();
  add_moments(hash, optimizer.first_order().moments());
  if (const TiedScales<T>& tied = optimizer.first_order().tied(); tied.has_values()) hash.add(tied.values());
  if (optimizer.state.momentum_steps > 0) hash.add(optimizer.momentum());
  hash.add(optimizer.point_steps().average(q.points().parameters()));
  add_kronecker(hash, optimizer.kronecker_descent().averages(), q);
  add_snapshots(hash, optimizer.snapshots(), optimizer.state.snapshots, q);
}

void add_likelihood(Hash& hash, const Likelihood& likelihood) {
  hash.add_all(
      {likelihood.kind(), likelihood.noise_is_set() ? 1 : 0, likelihood.log_precision_is_free() ? 1 : 0});
  hash.add(ConstSpan<double>(likelihood.noise_precision()));
  if (std::isfinite(likelihood.limit())) hash.add(likelihood.limit());
  if (likelihood.kind() == BDL_STUDENT_T) hash.add(likelihood.degrees_of_freedom());
}

}  // namespace

template <class T>
Agreement Optimizer<T>::agreement(std::uint8_t call, Index rows, Index epochs, Index shards, bool whole,
                                  std::span<std::uint32_t> option_hashes) const {
  const Posterior<T>& q = *posterior_;
  Hash version, shapes, prior, belief;
  version.add(std::string_view(BDL_VERSION_STRING));
  version.add(std::string_view(blas_kernels()));
  version.add(static_cast<std::uint64_t>(widest_simd()));
  shapes.add(std::string_view(method_.name));
  shapes.add_all({data_size_, rows, epochs, q.dimension(), static_cast<Index>(q.family()), q.rank(),
                  model_->inputs(), model_->outputs(), model_->likelihood.targets(),
                  static_cast<Index>(model_->likelihood.kind()), std::ssize(q.statistics())});
  for (const ParameterBlock& block : blocks()) shapes.add_all({block.offset, block.rows, block.cols});
  shapes.add(model_->standardization.inputs().mean);
  shapes.add(model_->standardization.inputs().scale);
  shapes.add(model_->standardization.targets().mean);
  shapes.add(model_->standardization.targets().scale);
  prior.add(prior_.groups());
  prior.add(static_cast<std::uint64_t>(prior_.is_fixed() ? 1 : 0));
  if (whole && prior_.is_fixed()) prior.add(prior_.precision());
  if (whole && prior_.belief()) add_posterior(prior, *prior_.belief());
  add_likelihood(belief, model_->likelihood);
  add_state(belief, state);
  belief.add(static_cast<std::uint64_t>(q.is_blank() ? 1 : 0));
  if (whole) {
    add_posterior(belief, q);
    add_averages(belief, *this);
  }
  return {call,
          static_cast<std::uint8_t>(sizeof(T)),
          static_cast<std::uint16_t>(shards),
          folded(version.value()),
          hash_options(options_, option_hashes),
          shapes.value(),
          prior.value(),
          static_cast<std::uint64_t>(state.step),
          belief.value()};
}

template Agreement Optimizer<float>::agreement(std::uint8_t, Index, Index, Index, bool,
                                               std::span<std::uint32_t>) const;
template Agreement Optimizer<double>::agreement(std::uint8_t, Index, Index, Index, bool,
                                                std::span<std::uint32_t>) const;

}  // namespace bdl
