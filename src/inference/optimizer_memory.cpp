// What an optimizer holds: said once, by the functions that take the memory.
#include <algorithm>

#include "inference/methods/rule.hpp"
#include "inference/optimizer.hpp"

namespace bdl {

template <class T>
Optimizer<T>::Workspace::Workspace(const Model<T>* model) {
  if (!model) return;
  evidence = std::make_unique<EvidenceEstimator<T>>(*model);
  prequential = std::make_unique<Prequential<T>>(*model);
  stream_guard = std::make_unique<StreamGuard<T>>(*model);
}

template <class T>
Index Optimizer<T>::workspace_bytes(Index examples) const {
  const MemoryPlan plan;
  for (const Buffer<T>* held : {&momentum_, &initial_mean_, &initial_precision_})
    MemoryPlan::add(held->bytes());
  MemoryPlan::add(prior_.bytes());
  MemoryPlan::add(static_cast<Index>(work_.filter.process_noise().size_bytes()));
  Workspace work(model_.get());
  PriorScratch of_prior;
  const Use use = model_ ? intended_use(combination(options_)) : Use::rows;
  reserve(use, use == Use::fit ? sizes_of(examples) : StepSizes{examples, examples, examples}, work,
          of_prior);
  return plan.bytes();
}

/// Of a minibatch, those of the rank with the most.
template <class T>
typename Optimizer<T>::StepSizes Optimizer<T>::sizes_of(Index examples) const {
  const Index shards = planned_shards();
  const auto start = [=](Index shard) { return part_of(shard, shards, examples).first; };
  Index most = 0;
  for (Index rank = 0; rank < team_.size(); ++rank) {
    const ShardRange own = shards_of(rank, team_.size(), shards);
    most = std::max(most, start(own.end) - start(own.first));
  }
  return {most, (examples + shards - 1) / shards, examples};
}

/// Before each step; one like the last has it done already.
template <class T>
void Optimizer<T>::reserve(Use use, const StepSizes& sizes) {
  if (sizes == reserved_for_ && use == reserved_use_) return;
  reserved_for_ = {};
  reserve(use, sizes, work_, prior_.scratch());
  reserved_for_ = sizes;
  reserved_use_ = use;
}

template <class T>
void Optimizer<T>::reserve(Use use, const StepSizes& sizes, Workspace& work, PriorScratch& of_prior) const {
  if (use == Use::rows) return reserve_rows(sizes.examples, work, of_prior);
  work.x.reserve(sizes.examples * model_->inputs());
  work.y.reserve(sizes.examples * model_->likelihood.targets());
  if (use == Use::stream)
    reserve_stream(sizes.examples, work);
  else
    reserve_batch(sizes, work, of_prior);
}

/// The caller's rows may stand somewhere else, where steps take them from; plans count a copy.
template <class T>
void Optimizer<T>::reserve_rows(Index count, Workspace& work, PriorScratch& of_prior) const {
  const Index dimension = posterior_->dimension();
  const RowsCost cost = DenseRows<T>::cost(dimension, count);
  work.c.reserve(count);
  work.gradient.reserve(dimension);
  if (MemoryPlan::is_active()) work.rows.reserve(dimension, count);
  work.rows.reserve_use(dimension, count, reserve_step(true, cost, work, of_prior));
}

template <class T>
void Optimizer<T>::reserve_batch(const StepSizes& sizes, Workspace& work, PriorScratch& of_prior) const {
  const Posterior<T>& q = *posterior_;
  const bool joins = planned_shards() > 1 && exchanges_rows();
  const Index examples = joins ? sizes.all : sizes.together;
  RowsUse use;
  work.zeros.reserve(model_->outputs());
  if (is_first_order())
    reserve_descent(work, of_prior);
  else
    use =
        reserve_step(gives_rows(options_.curvature), work.evidence->cost(options_, examples), work, of_prior);
  work.evidence->reserve(q, options_, (examples + options_.sample_groups - 1) / options_.sample_groups, use,
                         work.scratch);
  if (is_newton()) work.evidence->reserve_groups(q, options_, examples);
  if (samples_for_scales()) work.evidence->reserve_samples(q, options_, examples, work.scratch);
  if (learns_prior() && is_noisy()) work.moments.reserve(2 * q.dimension());
  if (is_guarded()) work.evidence->reserve_guard(q, options_, examples);
  if (joins) {
    work.evidence->reserve_joined(q, options_, sizes.all, use, work.scratch);
    reserve_exchange(sizes, work);
    reserve_divided(sizes.all, use, work);
  }
  if (const Index shards = planned_shards(); shards > 1) reserve_sums(shards, work);
  reserve_copy(q, work.good);
}

template <class T>
void Optimizer<T>::reserve_descent(Workspace& work, PriorScratch& of_prior) const {
  const bool moves_scales = rule() != Rule::map;
  work.slope.reserve(posterior_->dimension());
  prior_.reserve(of_prior);
  if (is_newton()) {
    work.point_squares.reserve(posterior_->points().parameters());
    work.first_order.reserve_newton(posterior_->dimension(), options_);
  } else if (is_kronecker()) {
    work.point_squares.reserve(posterior_->points().parameters());
    work.kronecker.reserve(*posterior_, work.evidence->blocks(), kronecker_prior() != nullptr);
  } else if (is_noisy()) {
    if (options_.diagonal_part == DiagonalPart::tied)
      work.first_order.tied().reserve(blocks(), options_.tied_rank);
    work.first_order.reserve_low_rank(*posterior_, options_);
  } else {
    work.first_order.reserve(posterior_->dimension(), moves_scales, options_);
  }
  if (options_.swag) work.snapshots.reserve(posterior_->dimension(), posterior_->rank());
  if (moves_scales) reserve_copy(*posterior_, work.next);
}

/// The step that begin_batch_step() begins; what it asks of the rows.
template <class T>
RowsUse Optimizer<T>::reserve_step(bool has_rows, const RowsCost& rows, Workspace& work,
                                   PriorScratch& of_prior) const {
  const Posterior<T>& q = *posterior_;
  work.slope.reserve(q.dimension());
  work.next_momentum.reserve(q.dimension());
  reserve_copy(q, work.next);
  if (scales_points()) work.point_steps.reserve(q.points().parameters());
  StepSize size = size_of(begin_step<T>(q, options_, false, {}));
  size.has_rows = has_rows;
  if (has_rows) size.rows = rows;
  size.most_rate = options_.curvature_rate;
  prior_.enter(size);
  const RowsUse use = q.use_of_rows(size);
  prior_.reserve_step(size, use, of_prior);
  q.reserve_step(size, work.update);
  return use;
}

template <class T>
void Optimizer<T>::reserve_stream(Index examples, Workspace& work) const {
  const Posterior<T>& q = *posterior_;
  const RowsCost cost = work.evidence->cost(options_, examples);
  PosteriorScratch<T>& scratch = work.filter.scratch();
  work.evidence->reserve(q, options_, examples, work.filter.use_of_rows(q, cost, options_), scratch);
  work.filter.reserve(q, cost, options_, work_.filter.passage(options_));
  work.prequential->reserve(q, examples, options_.score);
  if (options_.guard > 0) work.stream_guard->reserve(q, examples, is_sampled(options_.curvature), scratch);
}

#define BDL_INSTANTIATE(T)                                      \
  template Optimizer<T>::Workspace::Workspace(const Model<T>*); \
  template Index Optimizer<T>::workspace_bytes(Index) const;    \
  template void Optimizer<T>::reserve(Use, const StepSizes&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
