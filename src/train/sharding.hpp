// Training by several processes (ranks): which shards of the data each of them has, and that they agree.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Makes the optimizer one of several ranks that take steps together; null: alone again. Fails where its
/// steps cannot be taken by several.
template <class T>
void set_communicator(Optimizer<T>& optimizer, std::shared_ptr<Communicator> communicator);

/// Number of shards of the data that the next course has, or an interrupted one.
template <class T>
Index planned_shards(const Optimizer<T>& optimizer);
/// Fails unless each rank has one of them at least, and steps can be made of their sums.
template <class T>
void check_shards(const Optimizer<T>& optimizer);
/// Fails if an interrupted course has another number of shards.
template <class T>
void check_same_shards(const Optimizer<T>& optimizer, Index shards);
/// The shards of this rank, of so many in all.
template <class T>
ShardRange own_shards(const Optimizer<T>& optimizer, Index shards) {
  return shards_of(optimizer.team.rank(), optimizer.team.size(), shards);
}

/// Returns what the other ranks must have, too, as hashes, of which option_hashes has room for one of each
/// option. `whole`: each number of posterior, prior and averages.
template <class T>
Agreement agreement(const Optimizer<T>& optimizer, Call call, Index rows, Index epochs, Index shards,
                    bool whole, std::span<std::uint32_t> option_hashes);
/// Fails on all ranks, naming the difference, unless all have called the same function, with so many rows and
/// epochs, in the same state: in all numbers of posterior, prior and averages, except before single steps.
/// Alone it does nothing.
template <class T>
void agree(Optimizer<T>& optimizer, Call call, Index rows, Index epochs, Index shards,
           const RowBlocks& blocks = {});

}  // namespace bdl
