// Minibatches made of equal fractions of every shard: shards are strata, each is shuffled by itself, and a
// rank reads only the rows of its shards.
#pragma once

#include "data/minibatch.hpp"
#include "ranks/shards.hpp"

namespace bdl {

/// Examples of a step: their number in all shards, and those of the consecutive shards on this rank.
struct StepExamples {
  Index all = 0;
  ConstSpan<ShardRange> shards{};  ///< columns of the local minibatch that each shard on this rank has
  ConstSpan<Index> sizes{};        ///< number of examples of every shard
  Index here() const { return shards.back().end; }
  Index largest() const;
};

class Strata {
 public:
  /// `own` are this rank's shards among `shards`. Fails unless a minibatch can have an example of each
  /// shard.
  Strata(const Options& options, Index examples, Index shards, const ShardRange& own,
         const RowBlocks& blocks = {});
  /// Passes data in blocks to EpochOrder::tell().
  void tell(DataSet& data);
  Index batches() const { return batches_; }
  Index size() const { return size_; }
  /// Returns the rows of a minibatch on this rank, shard after shard. They live until the next call.
  ConstSpan<Index> rows(Index epoch, Index number);
  /// Returns the sizes of the minibatch that rows() returned last.
  const StepExamples& examples() const { return step_; }
  /// Returns the rows of one local shard in a minibatch; they live until the next call. largest_of()
  /// returns the largest number of such rows.
  ConstSpan<Index> rows_of(Index shard, Index epoch, Index number);
  Index largest_of(Index shard) const { return members_[place(shard)].largest(); }

 private:
  std::size_t place(Index shard) const { return static_cast<std::size_t>(shard - own_.first); }
  void add_rows(Index shard, Index epoch, Index number);
  Index examples_, shards_, batches_, size_;
  ShardRange own_;
  bool replacement_;
  std::vector<Minibatches> members_;
  std::vector<Index> rows_, sizes_;
  std::vector<ShardRange> columns_;
  StepExamples step_;
};

/// Divides a minibatch that the caller has made: shard v has rows part_of(v, shards, rows).
class CallerStrata {
 public:
  CallerStrata(Index rows, Index shards, const ShardRange& own);
  /// Returns the first row on this rank.
  Index first() const { return first_; }
  const StepExamples& examples() const { return step_; }

 private:
  Index first_;
  std::vector<ShardRange> columns_;
  std::vector<Index> sizes_;
  StepExamples step_;
};

}  // namespace bdl
