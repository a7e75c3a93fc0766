// An exchange that sends an array of numbers of each shard from its rank to all ranks.
#pragma once

#include <vector>

#include "ranks/shards.hpp"
#include "ranks/team.hpp"

namespace bdl {

template <class T>
class ShardExchange {
 public:
  /// Returns the counts of numbers, one per shard, which the caller fills before reserve().
  std::span<Index> numbers(Index shards);
  /// Makes room for all messages. All ranks must know that all have the memory before they gather().
  void reserve(Index rank, Index ranks);
  /// Returns where the numbers of a local shard are to be written.
  std::span<T> own(Index shard);
  /// Exchanges the messages; all ranks call it, and it fails on all of them if one has failed.
  void gather(Team& team);
  /// Returns the numbers of each shard, after gather().
  std::span<const T*> shards() { return shards_; }

  /// Does a whole exchange, for results whose work is divided: work(shards) computes the local shards,
  /// write(shard, to) copies one with its numbers_of(shard) numbers into the message, read(shard, from)
  /// reads one of another rank. A team of one calls work() only. A vote comes first, so that a rank which
  /// has failed since the last message can tell the others.
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
  std::vector<Index> numbers_;  // count of each shard's numbers
  std::vector<Index> sizes_;    // bytes of each rank's message
  std::vector<const T*> shards_;
  Buffer<std::byte> send_, receive_;
};

}  // namespace bdl
