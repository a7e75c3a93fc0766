// Shards 0 .. V - 1 of the data, and the binary tree over them in whose order sums are added up.
#pragma once

#include "base/view.hpp"

namespace bdl {

inline constexpr Index most_shards = 1 << 15;

using ShardRange = IndexRange;

/// Returns the v-th of `parts` consecutive ranges of 0 .. size - 1, whose lengths differ by at most one.
inline ShardRange part_of(Index v, Index parts, Index size) {
  __extension__ typedef __int128 Wide;  // the product may exceed 64 bits
  const auto start = [=](Index part) { return static_cast<Index>(static_cast<Wide>(part) * size / parts); };
  return {start(v), start(v + 1)};
}

/// Returns the shards of a rank.
inline ShardRange shards_of(Index rank, Index ranks, Index shards) {
  return part_of(rank, ranks, shards);
}

/// Returns the shard at which a node of the tree is split: the first of its second half.
inline Index middle(const ShardRange& node) {
  return node.first + node.count() / 2;
}

/// Calls visit(node) for the largest nodes of the tree below `node` that lie in `range`, from left to right:
/// at most 2 log2 V of them.
template <class Visit>
void for_each_node_in(const ShardRange& range, const ShardRange& node, Visit&& visit) {
  if (node.end <= range.first || range.end <= node.first) return;
  if (range.first <= node.first && node.end <= range.end) return visit(node);
  for_each_node_in(range, {node.first, middle(node)}, visit);
  for_each_node_in(range, {middle(node), node.end}, visit);
}

inline Index count_nodes(const ShardRange& range, Index shards) {
  Index count = 0;
  for_each_node_in(range, {0, shards}, [&](const ShardRange&) { ++count; });
  return count;
}

/// Returns the number of nodes on the tree's longest path, the leaf included.
inline Index depth_of(Index shards) {
  Index depth = 1;
  for (Index size = shards; size > 1; size -= size / 2) ++depth;
  return depth;
}

}  // namespace bdl
