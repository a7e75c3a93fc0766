// Steps of methods whose update takes the curvature rows of the whole minibatch: each rank sees its shards'
// examples, what rows are made of goes to all ranks, and these divide the work on them.
#include <algorithm>

#include "inference/optimizer.hpp"

namespace bdl {

/// Of all steps that are more than sums over examples.
template <class T>
bool Optimizer<T>::exchanges_rows() const {
  if (rule() == Rule::map || is_newton() || is_noisy()) return false;
  return !(rule() == Rule::bbb && posterior_->is_diagonal());
}

/// A shard's message: the evidence's numbers, and the examples' targets.
template <class T>
Index Optimizer<T>::numbers_of_shard(const Options& options, Index examples, const Workspace& work) const {
  return work.evidence->shared_numbers(options, examples) + examples * model_->likelihood.targets();
}

/// Reserves memory for messages, each as long as the largest shard's.
template <class T>
void Optimizer<T>::reserve_exchange(const StepSizes& sizes, Workspace& work) const {
  std::ranges::fill(work.exchange.numbers(planned_shards()),
                    numbers_of_shard(options_, sizes.together, work));
  work.exchange.reserve(team_.rank(), team_.size());
  work.all_y.reserve(sizes.all * model_->likelihood.targets());
}

/// Sets the place of each shard's message.
template <class T>
void Optimizer<T>::lay_out_exchange(const StepExamples& examples) {
  const Options options = seen_options();
  std::ranges::transform(examples.sizes, work_.exchange.numbers(std::ssize(examples.sizes)).begin(),
                         [&](Index size) { return numbers_of_shard(options, size, work_); });
  work_.exchange.reserve(team_.rank(), team_.size());
}

/// Of the last evidence, of targets y.
template <class T>
void Optimizer<T>::write_rows(Index shard, ConstMatrixView<T> y) {
  const std::span<T> out = work_.exchange.own(shard);
  T* to = out.data();
  for (Index i = 0; i < y.cols; ++i) to = std::ranges::copy(y.column(i), to).out;
  work_.evidence->write_shared(seen_options(), out.subspan(static_cast<std::size_t>(to - out.data())));
}

template <class T>
Evidence<T> Optimizer<T>::exchange_rows(const StepExamples& examples, double weight) {
  work_.exchange.gather(team_);
  Evidence<T> evidence;
  team_.attempt([&] {
    const Index targets = model_->likelihood.targets();
    const std::span<const T*> numbers = work_.exchange.shards();
    T* y = work_.all_y.data();
    for (std::size_t v = 0; v < numbers.size(); ++v) {
      const Index count = examples.sizes[v] * targets;
      y = std::copy_n(numbers[v], count, y);
      numbers[v] += count;
    }
    evidence = work_.evidence->join(*posterior_, seen_options(), work_.all_y.matrix(targets, examples.all),
                                    weight, examples.sizes, numbers);
    divide_rows(evidence);
    if (!gives_rows(options_.curvature)) evidence.curvature = hessian_of_shards();
    if (!is_guarded()) evidence.gradient = work_.evidence->gradient();
  });
  evidence.expected_log_likelihood = log_likelihood_of_shards();
  return evidence;
}

/// Numbers that are summed up beside the rows: of a curvature that is not made of them.
template <class T>
Index Optimizer<T>::hessian_numbers() const {
  const Index dimension = posterior_->dimension();
  if (gives_rows(options_.curvature)) return 0;
  return takes_hessian() ? dimension * (dimension + 1) / 2 : dimension;
}

/// As a matrix.
template <class T>
bool Optimizer<T>::takes_hessian() const {
  return options_.curvature == EstimateKind::mc_hess && posterior_->takes_matrix();
}

/// Its diagonal, or its lower triangle, column by column.
template <class T>
void Optimizer<T>::write_hessian(const Curvature<T>& curvature, std::span<T> out) const {
  if (!takes_hessian()) {
    std::ranges::copy(curvature.diagonal, out.begin());
    return;
  }
  const ConstMatrixView<double> h = curvature.matrix;
  T* to = out.data();
  for (Index j = 0; j < h.cols; ++j)
    to = std::transform(h.column_data(j) + j, h.column_data(j) + h.rows, to,
                        [](double value) { return static_cast<T>(value); });
}

template <class T>
Curvature<T> Optimizer<T>::hessian_of_shards() {
  const ConstSpan<T> sums = work_.sums.values();
  if (!takes_hessian()) return {nullptr, {}, {}, sums};
  const Index dimension = posterior_->dimension();
  work_.hessian.reserve(dimension * dimension);
  const auto h = work_.hessian.matrix(dimension, dimension);
  const T* from = sums.data();
  for (Index j = 0; j < dimension; from += dimension - j++)
    std::copy_n(from, dimension - j, h.column_data(j) + j);
  return {nullptr, {}, h, {}};
}

/// A network's.
template <class T>
void Optimizer<T>::divide_rows(Evidence<T>& evidence) {
  auto* const rows = dynamic_cast<BlockedRows<T>*>(evidence.curvature.rows);
  if (!rows) return;
  work_.divided.assign(*rows, team_, state.shards);
  work_.evidence->replace_rows(work_.divided);
  evidence.curvature.rows = &work_.divided;
}

/// Of the step, and of draws: those over D x L matrices.
template <class T>
bool Optimizer<T>::shares_passes() const {
  return team_.size() > 1 && is_sharded() && exchanges_rows() && posterior_->family() == Family::low_rank;
}

template <class T>
bool Optimizer<T>::shares_draws() const {
  return shares_passes() && options_.sample_sharing == SampleSharing::all && options_.sample_groups == 1 &&
         is_sampled(seen_options().curvature);
}

/// The samples that all shards have in common.
template <class T>
void Optimizer<T>::draw_together() {
  has_drawn_ = false;
  if (!shares_draws()) return;
  team_.attempt([&] {
    const SharedPasses passes(work_.scratch.tall, tall_ranks_);
    work_.evidence->draw_samples(*posterior_, seen_options(), draws(), {state.step, 0, own_shards().first},
                                 work_.scratch);
    has_drawn_ = true;
  });
  team_.vote();  // which a rank that has failed before or meanwhile comes to at once
}

/// Of all shards' examples.
template <class T>
void Optimizer<T>::reserve_divided(Index examples, const RowsUse& use, Workspace& work) const {
  const BlockedRows<T>* const blocks = work.evidence->find_blocks(options_);
  if (!blocks) return;
  const Index each = work.evidence->cost(options_, examples).count / examples,
              samples = std::min(each, batch_size(options_, examples).samples);
  work.divided.reserve(*blocks, {examples, samples, each / samples}, use, team_, planned_shards());
}

#define BDL_INSTANTIATE(T)                                                              \
  template bool Optimizer<T>::exchanges_rows() const;                                   \
  template void Optimizer<T>::reserve_exchange(const StepSizes&, Workspace&) const;     \
  template void Optimizer<T>::lay_out_exchange(const StepExamples&);                    \
  template void Optimizer<T>::write_rows(Index, ConstMatrixView<T>);                    \
  template Index Optimizer<T>::hessian_numbers() const;                                 \
  template bool Optimizer<T>::takes_hessian() const;                                    \
  template void Optimizer<T>::write_hessian(const Curvature<T>&, std::span<T>) const;   \
  template bool Optimizer<T>::shares_passes() const;                                    \
  template void Optimizer<T>::draw_together();                                          \
  template void Optimizer<T>::reserve_divided(Index, const RowsUse&, Workspace&) const; \
  template Evidence<T> Optimizer<T>::exchange_rows(const StepExamples&, double);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
