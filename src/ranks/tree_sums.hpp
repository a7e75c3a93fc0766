// Sums over shards in one fixed order, so that results are identical for any number of ranks.
#pragma once

#include "ranks/shards.hpp"
#include "ranks/team.hpp"

namespace bdl {

/// The summands of a shard: many values, of which each rank finishes a slice, and a few doubles, which every
/// rank adds up itself.
template <class T>
struct Summand {
  std::span<T> values;
  std::span<double> numbers;
};

/// Sums in which every node of the tree over the shards is the sum of its halves, left plus right. A rank
/// adds up the largest nodes within its shards, then ranks swap slices of these: by exchanges of halves if
/// ranks and shards are powers of two, so that each rank has one node, else with each other rank in turn.
/// Last, all ranks gather the finished slices. A rank receives 2 (R - 1) / R times the values, or a little
/// more in turns.
template <class T>
class TreeSums {
 public:
  /// Makes room for sums of so many values and numbers. All ranks must know that all have it before they
  /// finish().
  void reserve(Index rank, Index ranks, Index shards, Index values, Index numbers);
  /// Calls fill(shard, summand) for each shard of this rank, in order, and adds up the rank's nodes.
  template <class Fill>
  void add_own(Fill&& fill) {
    Index slot = 0;
    for_each_node_in(own_, {0, shards_},
                     [&](const ShardRange& node) { add_node(node, slot++, nodes_, fill); });
  }
  /// Exchanges and adds up; all ranks call it, and it fails on all of them if one has failed.
  void finish(Team& team);
  ConstSpan<T> values() const { return values_.first(size_); }
  std::span<T> values() { return values_.first(size_); }
  ConstSpan<double> numbers() const { return results_.first(count_); }

 private:
  /// Fills a slot with the sum of a node; the slots from `free` on are memory for its right halves.
  template <class Fill>
  void add_node(const ShardRange& node, Index slot, Index free, Fill& fill) {
    if (node.count() == 1) return fill(node.first, summand(slot));
    add_node({node.first, middle(node)}, slot, free, fill);
    add_node({middle(node), node.end}, free, free + 1, fill);
    add(summand(free), summand(slot));
  }
  Summand<T> summand(Index slot) {
    return {{values_.data() + slot * size_, static_cast<std::size_t>(size_)},
            {numbers_.data() + slot * count_, static_cast<std::size_t>(count_)}};
  }
  static void add(const Summand<T>& right, const Summand<T>& left);
  bool halves() const;
  ShardRange halved_slice(Index rank) const;
  ShardRange slice(Index rank) const;
  void exchange_halves(Team& team);
  void exchange_in_turn(Team& team);
  void combine_slice();
  void gather(Team& team);
  void combine_numbers();

  Index rank_ = 0, ranks_ = 1, shards_ = 1, size_ = 0, count_ = 0;
  ShardRange own_{0, 1};
  Index nodes_ = 1, all_nodes_ = 1, largest_slice_ = 0;
  Buffer<T> values_, others_;  // local nodes and their summands; this rank's slice of all ranks' nodes
  Buffer<double> numbers_, results_, all_numbers_;
  Buffer<std::byte> send_, receive_;
  Buffer<std::int64_t> sizes_;
};

/// Returns the sum of fill(shard, values) over all shards. Must be called within Team::telling; a rank that
/// lacks the memory for it stops all of them.
template <class T, class Fill>
void add_up(Team& team, TreeSums<T>& sums, Fill&& fill) {
  team.vote();
  team.attempt([&] { sums.add_own([&](Index shard, const Summand<T>& out) { fill(shard, out.values); }); });
  sums.finish(team);
  if (team.size() == 1) team.vote();
}

}  // namespace bdl
