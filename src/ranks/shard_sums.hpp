// Sums of a few numbers over the shards of a data set.
#pragma once

#include <algorithm>

#include "ranks/tree_sums.hpp"

namespace bdl {

/// Returns sums over all shards, added up in the order of the tree; they live in `sums` until the next
/// call. Calls add(shard, out) for each shard of this rank, where `out` has `numbers` zeros to add to.
template <class Add>
ConstSpan<double> sum_over_shards(Team& team, TreeSums<double>& sums, Index shards, Index numbers,
                                  Add&& add) {
  team.attempt([&] { sums.reserve(team.rank(), team.size(), shards, 0, numbers); });
  if (team.size() > 1) team.vote();  // all ranks have the memory, or none goes on
  team.attempt([&] {
    sums.add_own([&](Index shard, const Summand<double>& out) {
      std::ranges::fill(out.numbers, 0.0);
      add(shard, out.numbers);
    });
  });
  sums.finish(team);
  return std::as_const(sums).numbers();
}

}  // namespace bdl
