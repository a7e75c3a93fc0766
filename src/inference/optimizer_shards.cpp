// Steps of several ranks, or of one in their way: the minibatch's sums are made shard by shard and added up
// in one order (parallel/tree_sums.hpp); from them on, every rank does the same.
#include <algorithm>
#include <bit>

#include "inference/noise/beliefs.hpp"
#include "inference/optimizer.hpp"
#include "posterior/diagonal/diagonal_step.hpp"

namespace bdl {
namespace {

/// Sums in double, in their order; those of targets, groups and statistics follow.
enum Number : Index { log_likelihood, misfit, zero_misfit, columns, noise_slope, first_vector };

std::span<double> part(std::span<double> numbers, Index first, std::size_t count) {
  return numbers.subspan(static_cast<std::size_t>(first), count);
}
ConstSpan<double> part(ConstSpan<double> numbers, Index first, std::size_t count) {
  return numbers.subspan(static_cast<std::size_t>(first), count);
}

}  // namespace

template <class T>
void Optimizer<T>::set_communicator(std::shared_ptr<Communicator> communicator) {
  if (communicator) {
    if (!model_) fail(Status::ERROR_UNSUPPORTED, "the optimizer was created without a model");
    const Combination asked = combination(options_);
    if (communicator->size() > 1 || method_.is_exact || method_.is_online) check_sums(asked);
  }
  team_.join(std::move(communicator));
  reserved_for_ = {};
}

template <class T>
Index Optimizer<T>::planned_shards() const {
  if (options_.shards > 0) return options_.shards;
  if (state.shards > 0) return state.shards;
  return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(team_.size())));
}

template <class T>
void Optimizer<T>::check_shards() const {
  const Index shards = planned_shards();
  if (shards < team_.size())
    fail(Status::ERROR_INVALID_ARGUMENT,
         "there are %lld ranks, but training has %lld shards, expected one for each rank at least (option "
         "\"shards\")",
         static_cast<long long>(team_.size()), static_cast<long long>(shards));
  if (shards > 1) check_sums(combination(options_));
}

/// Numbers that are summed up in T: the gradient, and what the curvature is made of.
template <class T>
Index Optimizer<T>::sum_count() const {
  const Index dimension = posterior_->dimension();
  if (exchanges_rows()) return hessian_numbers();
  if (is_noisy()) {
    const bool learns_s = options_.diagonal_part != DiagonalPart::fixed;
    return dimension * (1 + moment_rank(*posterior_) + (learns_s ? 1 : 0));
  }
  if (!has_curvature_sums()) return dimension;
  return 2 * dimension + (is_newton() ? posterior_->points().parameters() : 0);
}

template <class T>
Index Optimizer<T>::number_count() const {
  return first_vector + model_->likelihood.targets() + std::ssize(prior_.groups()) +
         std::ssize(posterior_->statistics());
}

template <class T>
void Optimizer<T>::reserve_sums(Index shards, Workspace& work) const {
  work.sums.reserve(team_.rank(), team_.size(), shards, sum_count(), number_count());
  if (exchanges_rows() && takes_hessian())
    work.hessian.reserve(posterior_->dimension() * posterior_->dimension());
  work.noise_sums.reserve(team_.rank(), team_.size(), shards, 0, 2 * model_->likelihood.targets());
}

template <class T>
void Optimizer<T>::reserve_sums(Index shards) {
  if (shards > 1) reserve_sums(shards, work_);
}

template <class T>
Index Optimizer<T>::bytes_of_sums(Index shards) const {
  const MemoryPlan plan;
  Workspace work(nullptr);
  if (shards > 1) reserve_sums(shards, work);
  return plan.bytes();
}

/// In two passes: the means first.
template <class T>
double Optimizer<T>::variance_of_shards(DataSet& data) {
  const auto targets = static_cast<std::size_t>(model_->likelihood.targets());
  const Standardization& units = model_->standardization;
  TargetSums sums;
  const auto rows_of = [&](Index shard) { return part_of(shard, state.shards, data.rows()); };
  const auto pass = [&](auto&& add) {
    team_.attempt(
        [&] { work_.noise_sums.add_own([&](Index v, const auto& out) { add(rows_of(v), out.numbers); }); });
    work_.noise_sums.finish(team_);
  };
  pass([&](const ShardRange& rows, std::span<double> out) {
    TargetSums::add_means(data, units, rows, out.first(targets));
    std::ranges::fill(out.subspan(targets), 0.0);
  });
  team_.attempt([&] {
    for (const double sum : work_.noise_sums.numbers().first(targets))
      sums.means.push_back(sum / static_cast<double>(data.rows()));
  });
  pass([&](const ShardRange& rows, std::span<double> out) { sums.add_squares(data, units, rows, out); });
  return TargetSums::variance(work_.noise_sums.numbers(), data.rows());
}

template <class T>
void Optimizer<T>::sum_shards(const StepExamples& examples, double weight, Index epoch_steps) {
  if (exchanges_rows()) lay_out_exchange(examples);
  work_.sums.add_own(
      [&](Index shard, const Summand<T>& out) { add_shard(examples, shard, weight, epoch_steps, out); });
}

/// Samples that all shards share are drawn for the first one here.
template <class T>
void Optimizer<T>::add_shard(const StepExamples& examples, Index shard, double weight, Index epoch_steps,
                             const Summand<T>& out) {
  EvidenceEstimator<T>& evidence = *work_.evidence;
  const Index first = own_shards().first, dimension = posterior_->dimension();
  const ShardRange& range = examples.shards[static_cast<std::size_t>(shard - first)];
  const auto x = x_to_fill(examples.here()).columns(range.first, range.count());
  const auto y = y_to_fill(examples.here()).columns(range.first, range.count());
  const bool shared = options_.sample_sharing == SampleSharing::all;
  const DrawPlace place{state.step, shared ? 0 : shard * options_.sample_groups, shard};
  evidence.keep_samples(has_drawn_ || (shared && shard > first && options_.sample_groups == 1));
  Evidence<T> seen = assess(x, y, weight, place);
  if (exchanges_rows()) {
    write_rows(shard, y);
    if (!gives_rows(options_.curvature)) write_hessian(seen.curvature, out.values);
  } else {
    if (seen.gradient.empty()) seen.gradient = evidence.gradient();
    std::ranges::copy(seen.gradient, out.values.begin());
  }
  if (seen.noise) {
    auto* const to = std::ranges::copy(seen.noise->w, out.values.data() + dimension).out;
    std::ranges::copy(seen.noise->log_sigma, to);
  }
  if (has_curvature_sums())
    curvature_diagonal(seen.curvature, out.values.subspan(at(dimension), at(dimension)));
  if (is_newton() && !posterior_->points().ranges.empty())
    evidence.point_squares(out.values.subspan(at(2 * dimension)));
  std::ranges::fill(out.numbers, 0.0);
  const Misfits misfit_sums = misfits(evidence.outputs(), y);
  out.numbers[log_likelihood] = seen.expected_log_likelihood;
  out.numbers[misfit] = misfit_sums.outputs;
  out.numbers[zero_misfit] = misfit_sums.zeros;
  out.numbers[columns] = misfit_sums.columns;
  const auto targets = static_cast<std::size_t>(y.rows), groups = prior_.groups().size();
  const double share = static_cast<double>(range.count()) / static_cast<double>(examples.all);
  std::ranges::transform(evidence.statistics(),
                         part(out.numbers, first_vector, out.numbers.size() - first_vector).begin() +
                             static_cast<std::ptrdiff_t>(targets + groups),
                         [=](double value) { return share * value; });
  if (!learns_scales(epoch_steps)) return;
  if (samples_for_scales()) evidence.sample(*posterior_, x, options_, draws(), place, work_.scratch);
  sum_errors(y, epoch_steps);
  if (learns_noise()) std::ranges::copy(scales_.squared_errors, out.numbers.begin() + first_vector);
  if (learns_degrees(epoch_steps)) out.numbers[noise_slope] = degrees_slope_;
  if (learns_prior())
    prior_.mean_squares(is_noisy() ? moments() : evidence.thetas(),
                        part(out.numbers, first_vector + y.rows, groups));
}

template <class T>
Evidence<T> Optimizer<T>::evidence_of_shards() {
  const auto dimension = static_cast<std::size_t>(posterior_->dimension());
  const std::span<T> sums = work_.sums.values();
  Evidence<T> evidence{sums.first(dimension), {}, work_.sums.numbers()[log_likelihood]};
  if (is_noisy()) {
    const std::size_t of_w = dimension * static_cast<std::size_t>(moment_rank(*posterior_));
    work_.noise_gradient = {sums.first(dimension), sums.subspan(dimension, of_w),
                            sums.subspan(dimension + of_w)};
    evidence.noise = &work_.noise_gradient;
    return evidence;
  }
  if (has_curvature_sums()) evidence.curvature = {nullptr, {}, {}, sums.subspan(dimension, dimension)};
  return evidence;
}

template <class T>
double Optimizer<T>::log_likelihood_of_shards() const {
  return work_.sums.numbers()[log_likelihood];
}

template <class T>
typename Optimizer<T>::Misfits Optimizer<T>::misfits_of_shards(Index examples) const {
  const ConstSpan<double> numbers = work_.sums.numbers();
  return {numbers[misfit], numbers[zero_misfit], numbers[columns], examples};
}

/// Mean squares of the prior's groups are those of all samples, of which each shard has as many.
template <class T>
void Optimizer<T>::take_scale_sums_of_shards() {
  const auto targets = static_cast<std::size_t>(model_->likelihood.targets()),
             groups = prior_.groups().size();
  const ConstSpan<double> numbers = work_.sums.numbers();
  const auto errors = part(numbers, first_vector, targets),
             squares = part(numbers, first_vector + static_cast<Index>(targets), groups);
  scales_.squared_errors.assign(errors.begin(), errors.end());
  scales_.prior_squares.assign(squares.begin(), squares.end());
  for (double& square : scales_.prior_squares) square /= static_cast<double>(state.shards);
  degrees_slope_ = numbers[noise_slope] / (numbers[columns] * static_cast<double>(targets));
}

template <class T>
ConstSpan<double> Optimizer<T>::statistics_of_shards() const {
  return work_.sums.numbers().last(posterior_->statistics().size());
}

#define BDL_INSTANTIATE(T)                                                              \
  template void Optimizer<T>::set_communicator(std::shared_ptr<Communicator>);          \
  template Index Optimizer<T>::planned_shards() const;                                  \
  template void Optimizer<T>::check_shards() const;                                     \
  template void Optimizer<T>::reserve_sums(Index, Workspace&) const;                    \
  template void Optimizer<T>::reserve_sums(Index);                                      \
  template Index Optimizer<T>::bytes_of_sums(Index) const;                              \
  template double Optimizer<T>::variance_of_shards(DataSet&);                           \
  template void Optimizer<T>::sum_shards(const StepExamples&, double, Index);           \
  template Evidence<T> Optimizer<T>::evidence_of_shards();                              \
  template double Optimizer<T>::log_likelihood_of_shards() const;                       \
  template typename Optimizer<T>::Misfits Optimizer<T>::misfits_of_shards(Index) const; \
  template void Optimizer<T>::take_scale_sums_of_shards();                              \
  template ConstSpan<double> Optimizer<T>::statistics_of_shards() const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
