// Steps of methods whose update takes curvature rows, where these stay with their shards: what is made of all
// rows is added up, each sum when the step comes to it.
#include <algorithm>

#include "inference/methods/exchange.hpp"
#include "inference/optimizer.hpp"

namespace bdl {

/// With some minibatches.
template <class T>
bool Optimizer<T>::may_spread() const {
  return planned_shards() > 1 && exchanges_rows() && !why_not_sums(combination(options_));
}

template <class T>
bool Optimizer<T>::spreads_rows(Index examples) const {
  if (!may_spread()) return false;
  const Options options = seen_options();
  constexpr auto bytes = static_cast<Index>(sizeof(T));
  const Index numbers = work_.evidence->shared_numbers(options, examples);
  const ExchangeSize size{posterior_->dimension(), planned_shards(), work_.evidence->cost(options, examples),
                          static_cast<double>(bytes) * static_cast<double>(numbers), bytes};
  return choose_exchange(combination(options_), size) == Exchange::sums;
}

template <class T>
void Optimizer<T>::reserve_spread(const StepSizes& sizes, const RowsUse& use, Workspace& work) const {
  const Index shards = planned_shards(), own = (shards + team_.size() - 1) / team_.size(),
              rows = own * work.evidence->cost(options_, sizes.together).count;
  work.evidence->reserve_shards(options_, own, sizes.together, use);
  work.spread.reserve(posterior_->dimension(), use, team_, shards);
  work.gradient.reserve(posterior_->dimension());
  work.c.reserve(rows);
  work.w.reserve(rows);
}

/// What a shard's rows are made of, for the others or for this rank. The squares of points are sums.
template <class T>
void Optimizer<T>::keep_rows(Index shard, ConstMatrixView<T> y, std::span<T> values) {
  if (spreads_)
    work_.evidence->keep_shard(shard - own_shards().first);
  else
    write_rows(shard, y);
  if (may_spread() && !values.empty()) work_.evidence->point_squares(values);
}

template <class T>
Evidence<T> Optimizer<T>::spread_rows(const StepExamples& examples) {
  Evidence<T> evidence;
  team_.attempt([&] {
    SpreadRows<T>& rows = work_.spread;
    rows.begin(posterior_->dimension(), work_.evidence->cost(seen_options(), examples.all), team_,
               state.shards);
    T *c = work_.c.data(), *w = work_.w.data();
    for (Index k = 0; k < own_shards().count(); ++k) {
      const Estimate<T>& shard = work_.evidence->estimate_of_shard(k);
      rows.add(*shard.rows);
      c = std::ranges::copy(shard.c, c).out;
      w = std::ranges::copy(shard.w, w).out;
    }
    evidence.curvature = {&rows, std::as_const(work_.w).first(rows.count()), {}, {}};
    if (is_guarded()) return;
    evidence.gradient = work_.gradient.first(posterior_->dimension());
    rows.sum(work_.c.first(rows.count()), work_.gradient.first(posterior_->dimension()));
  });
  evidence.expected_log_likelihood = log_likelihood_of_shards();
  return evidence;
}

/// The guard looks at each example alone, and so needs no other rank.
template <class T>
ConstSpan<T> Optimizer<T>::guarded_gradient(const Posterior<T>& metric, double rate) {
  if (!spreads_) return work_.evidence->guarded_gradient(metric, rate, options_.guard, held_);
  held_ = false;
  T* c = work_.c.data();
  for (Index k = 0; k < own_shards().count(); ++k)
    c = std::ranges::copy(work_.evidence->guarded_coefficients(k, metric, rate, options_.guard, held_), c)
            .out;
  held_ = team_.vote(held_);
  const auto gradient = work_.gradient.first(posterior_->dimension());
  work_.spread.sum(work_.c.first(work_.spread.count()), gradient);
  return gradient;
}

#define BDL_INSTANTIATE(T)                                                                        \
  template bool Optimizer<T>::may_spread() const;                                                 \
  template bool Optimizer<T>::spreads_rows(Index) const;                                          \
  template void Optimizer<T>::reserve_spread(const StepSizes&, const RowsUse&, Workspace&) const; \
  template void Optimizer<T>::keep_rows(Index, ConstMatrixView<T>, std::span<T>);                 \
  template Evidence<T> Optimizer<T>::spread_rows(const StepExamples&);                            \
  template ConstSpan<T> Optimizer<T>::guarded_gradient(const Posterior<T>&, double);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
