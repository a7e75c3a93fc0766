// Minibatches: the examples of each step are a pure function of seed, epoch and position, so that a run that
// is resumed continues exactly.
#pragma once

#include <vector>

#include "data/data_set.hpp"
#include "options/options.hpp"
#include "rng/permutation.hpp"

namespace bdl {

/// Order of the rows in an epoch: all shuffled, or in blocks.
class EpochOrder {
 public:
  /// `shard` is the shard that consists of these rows; it has blocks of its own.
  EpochOrder(std::uint64_t seed, Index rows, const RowBlocks& blocks, std::uint32_t shard = 0);
  /// Tells data in blocks which rows come next and which are done; these rows begin at row `first_row` of the
  /// data.
  void tell(DataSet& data, Index first_row = 0) {
    told_ = &data;
    first_row_ = first_row;
  }
  /// Writes the rows at places first, first + 1, ... of an epoch.
  void fill(Index epoch, Index first, std::span<Index> out);

 private:
  void begin(Index epoch);
  Index in_blocks(Index place);
  Index last_rows() const { return rows_ - (block_count_ - 1) * blocks_.rows; }
  Index start_of(Index window) const;
  void open(Index window);
  void tell_window(Index window, void (DataSet::*hint)(Index first, Index count));

  StreamKey key(Index epoch, std::uint32_t sample) const;

  std::uint64_t seed_;
  std::uint32_t shard_;
  Index rows_;
  RowBlocks blocks_;
  Index block_count_ = 0;
  DataSet* told_ = nullptr;
  Index first_row_ = 0;
  Index epoch_ = -1;
  Permutation order_;      // order of all rows, or of the blocks
  Index short_place_ = 0;  // place of the last block, which may be short, among the blocks
  Index window_ = -1;      // the open window, its first place, and the short block's place among its blocks
  Index start_ = 0, short_ = 0;
  Permutation within_;  // order of the rows of the open window
};

/// Returns the number of examples per step: the option, or a choice by the size of the data.
Index minibatch_size(const Options& options, Index examples);

class Minibatches {
 public:
  Minibatches(const Options& options, Index examples, const RowBlocks& blocks = {});
  /// Selects an order: that of a shard, perhaps in blocks.
  struct Place {
    Index shard = 0;
    RowBlocks blocks{};
  };
  /// Makes the minibatches of a shard, which has an order of its own; `size` is used for sampling with
  /// replacement.
  Minibatches(const Options& options, Index examples, Index batches, Index size, const Place& place);
  /// Passes data to EpochOrder::tell().
  void tell(DataSet& data, Index first_row) { order_.tell(data, first_row); }
  Index batches() const { return batches_; }
  Index size() const { return size_; }
  /// Returns the number of examples of the largest batch.
  Index largest() const { return replacement_ ? size_ : (examples_ + batches_ - 1) / batches_; }
  /// Returns the example numbers of a batch; sizes in a shuffled epoch differ by at most one.
  ConstSpan<Index> batch(Index epoch, Index number);

 private:
  /// Returns the first place of a batch in its epoch.
  Index start_of(Index number) const {
    __extension__ typedef __int128 Wide;  // the product may overflow 64 bits
    return static_cast<Index>(static_cast<Wide>(number) * examples_ / batches_);
  }

  Index examples_, batches_, size_;
  std::uint32_t shard_ = 0;
  bool replacement_;
  std::uint64_t seed_;
  EpochOrder order_;
  std::vector<Index> batch_;
};

}  // namespace bdl
