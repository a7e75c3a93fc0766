// Evidence of which each shard of a minibatch keeps its own: rows stay where their examples are.
#include "inference/evidence.hpp"

namespace bdl {

template <class T>
void EvidenceEstimator<T>::reserve_shards(const Options& options, Index shards, Index examples,
                                          const RowsUse& use) {
  while (std::ssize(seen_) < shards) seen_.push_back({make_estimator(model_), {}, {}, {}});
  for (const Seen& seen : seen_) seen.rows->reserve(batch_size(options, examples), use);
}

template <class T>
void EvidenceEstimator<T>::keep_shard(Index shard) {
  Seen& to = seen(shard);
  to.estimate = estimate_;
  to.outputs = outputs_;
  to.y = y_;
}

template <class T>
ConstSpan<T> EvidenceEstimator<T>::guarded_coefficients(Index shard, const Posterior<T>& metric, double rate,
                                                        double limit, bool& held) {
  const Seen& of = seen(shard);
  const auto c =
      guard_.scale({model_.likelihood, of.estimate, of.outputs, of.y, weight_}, metric, rate, limit);
  held = held || guard_.has_held();
  return c;
}

#define BDL_INSTANTIATE(T)                                                                             \
  template void EvidenceEstimator<T>::reserve_shards(const Options&, Index, Index, const RowsUse&);    \
  template void EvidenceEstimator<T>::keep_shard(Index);                                               \
  template ConstSpan<T> EvidenceEstimator<T>::guarded_coefficients(Index, const Posterior<T>&, double, \
                                                                   double, bool&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
