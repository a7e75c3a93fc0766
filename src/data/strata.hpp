// Minibatches to which every shard of the data gives its share: shards are strata, each with an order of its
// own, and a rank reads the rows of its shards only.
#pragma once

#include "data/minibatch.hpp"
#include "parallel/shards.hpp"

namespace bdl {

/// Examples of a step: how many there are of all shards, and those that are here, of consecutive shards.
struct StepExamples {
  Index all = 0;
  ConstSpan<ShardRange> shards{};  ///< columns of each shard that is here
  ConstSpan<Index> sizes{};        ///< examples of each shard, those of other ranks too
  Index here() const { return shards.back().end; }
  Index largest() const;
};

class Strata {
 public:
  /// Of `examples` in all, the shards of `own` among `shards`. Fails unless each minibatch has room for an
  /// example of each shard. Each shard has blocks of its own.
  Strata(const Options& options, Index examples, Index shards, const ShardRange& own,
         const RowBlocks& blocks = {});
  /// See EpochOrder; for data in blocks only.
  void tell(DataSet& data);
  Index batches() const { return batches_; }
  Index size() const { return size_; }
  /// Rows of a minibatch that are of own shards, one shard after the other. They live until the next call.
  ConstSpan<Index> rows(Index epoch, Index number);
  /// Of the last rows().
  const StepExamples& examples() const { return step_; }
  /// Of one own shard alone, rows of a minibatch, and the most that one has. They live until the next call.
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

/// The same of a minibatch that the caller has made: shard v has part_of(v, shards, rows).
class CallerStrata {
 public:
  CallerStrata(Index rows, Index shards, const ShardRange& own);
  /// First of the rows that are here.
  Index first() const { return first_; }
  const StepExamples& examples() const { return step_; }

 private:
  Index first_;
  std::vector<ShardRange> columns_;
  std::vector<Index> sizes_;
  StepExamples step_;
};

}  // namespace bdl
