// Parts 0 .. V - 1 of data, and the one binary tree over them by which their sums are added up.
#pragma once

#include "base/view.hpp"

namespace bdl {

inline constexpr Index most_shards = 1 << 15;

using ShardRange = IndexRange;

/// The v-th of `parts` consecutive parts of 0 .. size - 1, which differ by at most one in size.
inline ShardRange part_of(Index v, Index parts, Index size) {
  __extension__ typedef __int128 Wide;  // for very many examples
  const auto start = [=](Index part) { return static_cast<Index>(static_cast<Wide>(part) * size / parts); };
  return {start(v), start(v + 1)};
}

/// Shards of a rank.
inline ShardRange shards_of(Index rank, Index ranks, Index shards) {
  return part_of(rank, ranks, shards);
}

/// Where a node of the tree is split.
inline Index middle(const ShardRange& node) {
  return node.first + node.count() / 2;
}

/// visit(node) for the largest nodes of the tree below `node` that lie in `range`, from left to right; at
/// most 2 log2 V of them.
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

/// Nodes below each other, one shard included, of the deepest path.
inline Index depth_of(Index shards) {
  Index depth = 1;
  for (Index size = shards; size > 1; size -= size / 2) ++depth;
  return depth;
}

}  // namespace bdl
