// Numbers that each shard has, from its rank to all ranks.
#pragma once

#include <vector>

#include "parallel/shards.hpp"
#include "parallel/team.hpp"

namespace bdl {

template <class T>
class ShardExchange {
 public:
  /// How many numbers each of so many shards has: to be filled before reserve().
  std::span<Index> numbers(Index shards);
  /// All ranks must know that all have the memory before they gather().
  void reserve(Index rank, Index ranks);
  /// Where an own shard's numbers are to stand.
  std::span<T> own(Index shard);
  /// With the other ranks: fails on all of them if one has failed.
  void gather(Team& team);
  /// After it, of each shard.
  std::span<const T*> shards() { return shards_; }

 private:
  Index rank_ = 0, ranks_ = 1;
  std::vector<Index> numbers_;
  std::vector<const T*> shards_;
  Buffer<std::byte> send_, receive_;
  Buffer<std::int64_t> sizes_;
};

}  // namespace bdl
