// Messages between the ranks of a search: the points to try, and the results of folds.
#pragma once

#include "ranks/team.hpp"
#include "search/batch.hpp"
#include "search/cross_validation.hpp"

namespace bdl {

/// Sends points and results. Tasks of a batch are dealt to ranks in turn: task t to rank t mod R.
class TrialExchange {
 public:
  static Index tasks_of(Index rank, Index ranks, Index tasks) { return (tasks - rank + ranks - 1) / ranks; }
  static Index task_of(Index rank, Index ranks, Index i) { return rank + i * ranks; }

  /// Allocates memory for batches of this size, without which a rank could not exchange messages.
  void allocate(Index ranks, Index trials, Index coordinates, Index tasks);
  /// Sends the points of `count` trials from rank 0 to the others, which have memory for them.
  void share_points(Team& team, std::vector<Trial>& trials, Index count, Index coordinates);
  /// Sends result(t) of every task from the rank that has trained it to all; null on a rank that has failed.
  void share_results(Team& team, Index tasks, FunctionRef<FoldResult*(Index task)> result);

 private:
  void gather(Team& team, FunctionRef<Index(Index rank)> bytes);
  Buffer<std::byte> send_, receive_;
  Buffer<std::int64_t> sizes_;
};

/// Returns a hash of inputs and targets, as doubles.
std::uint64_t hash_rows(DataSet& data);

}  // namespace bdl
