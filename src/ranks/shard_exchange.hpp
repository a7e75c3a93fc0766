// Numbers that each shard has, from its rank to all ranks.
#pragma once

#include <vector>

#include "ranks/shards.hpp"
#include "ranks/team.hpp"

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

  /// All of it, for results that ranks share the work on: each shard has numbers_of(shard) numbers; work(own
  /// shards) makes its rank's, write(shard, to) puts an own one's down, and read(shard, from) takes another
  /// rank's. A team of one only works. It begins with a vote, so that a rank which has failed since the last
  /// message, and votes in the end, is heard.
  template <class Numbers, class Work, class Write, class Read>
  void share(Team& team, Index shards, Numbers&& numbers_of, Work&& work, Write&& write, Read&& read) {
    const ShardRange own = shards_of(team.rank(), team.size(), shards);
    if (team.size() == 1) return work(own);
    team.attempt([&] {
      Index shard = 0;
      for (Index& count : numbers(shards)) count = numbers_of(shard++);
      reserve(team.rank(), team.size());
    });
    team.vote();
    team.attempt([&] {
      work(own);
      for (Index v = own.first; v < own.end; ++v) write(v, this->own(v).data());
    });
    gather(team);
    for (Index v = 0; v < shards; ++v)
      if (v < own.first || v >= own.end) read(v, shards_[static_cast<std::size_t>(v)]);
  }

 private:
  Index rank_ = 0, ranks_ = 1;
  std::vector<Index> numbers_;  // of each shard
  std::vector<Index> sizes_;    // bytes of each rank's message: written while memory is planned, too
  std::vector<const T*> shards_;
  Buffer<std::byte> send_, receive_;
};

}  // namespace bdl
