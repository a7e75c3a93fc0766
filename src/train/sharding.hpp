// Training by several processes (ranks): division of the data into shards, and checks that the ranks agree.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Makes the optimizer one of several ranks that take steps together; null: it works alone again. Fails if
/// several ranks cannot take its steps.
template <class T>
void set_communicator(Optimizer<T>& optimizer, std::shared_ptr<Communicator> communicator);

/// Returns the number of shards of the next course, or of an interrupted one.
template <class T>
Index planned_shards(const Optimizer<T>& optimizer);
/// Fails unless each rank has a shard, and the steps can be computed from sums over shards.
template <class T>
void check_shards(const Optimizer<T>& optimizer);
/// Fails if an interrupted course has another number of shards.
template <class T>
void check_same_shards(const Optimizer<T>& optimizer, Index shards);
/// Returns the shards of this rank among so many.
template <class T>
ShardRange own_shards(const Optimizer<T>& optimizer, Index shards) {
  return shards_of(optimizer.team.rank(), optimizer.team.size(), shards);
}

/// Returns hashes of everything that must be equal on all ranks; option_hashes has room for one hash per
/// option. `whole` includes every number of posterior, prior and averages.
template <class T>
Agreement agreement(const Optimizer<T>& optimizer, Call call, Index rows, Index epochs, Index shards,
                    bool whole, std::span<std::uint32_t> option_hashes);
/// Fails on all ranks, naming the difference, unless all have called the same function, with the same rows
/// and epochs, in the same state: all numbers of posterior, prior and averages, except before single steps.
/// Does nothing for a single rank.
template <class T>
void agree(Optimizer<T>& optimizer, Call call, Index rows, Index epochs, Index shards,
           const RowBlocks& blocks = {});

}  // namespace bdl
