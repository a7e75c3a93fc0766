// What the ranks of a search tell each other: the points to be tried, and how the folds went.
#pragma once

#include "parallel/team.hpp"
#include "search/cross_validation.hpp"
#include "search/trial.hpp"

namespace bdl {

/// Parts of a batch are dealt to ranks in turn: part p to rank p mod R.
class TrialExchange {
 public:
  static Index parts_of(Index rank, Index ranks, Index parts) { return (parts - rank + ranks - 1) / ranks; }
  static Index part_of(Index rank, Index ranks, Index i) { return rank + i * ranks; }

  /// Memory for batches of so many trials and parts, without which a rank could not take part.
  void reserve(Index ranks, Index trials, Index coordinates, Index parts);
  /// Points of `count` trials: rank 0's to the others, which write them where they have room.
  void share_points(Team& team, std::vector<Trial>& trials, Index count, Index coordinates);
  /// result(p) of every part, from the rank that has trained it, to all; null on a rank that has failed.
  void share_results(Team& team, Index parts, FunctionRef<FoldResult*(Index part)> result);

 private:
  void gather(Team& team, FunctionRef<Index(Index rank)> bytes);
  Buffer<std::byte> send_, receive_;
  Buffer<std::int64_t> sizes_;
};

/// Of inputs and targets, as doubles.
std::uint64_t hash_rows(DataSet& data);

}  // namespace bdl
