// In which order an epoch goes through the rows: a pure function of seed, epoch and place, whole or in
// blocks.
#pragma once

#include "data/data_set.hpp"
#include "rng/permutation.hpp"

namespace bdl {

class EpochOrder {
 public:
  /// `shard`: which of the shards the rows are; blocks are those of these rows.
  EpochOrder(std::uint64_t seed, Index rows, const RowBlocks& blocks, std::uint32_t shard = 0);
  /// Tells the data, in blocks, which rows come next and which have come; ours begin at `first_row` of them.
  void tell(DataSet& data, Index first_row = 0) {
    told_ = &data;
    first_row_ = first_row;
  }
  /// The rows at places first, first + 1, ... of an epoch.
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
  Permutation order_;      // of all rows, or of the blocks
  Index short_place_ = 0;  // of the last block, which may be short, among the blocks
  Index window_ = -1, start_ = 0,
        short_ = 0;     // the open one: its first place, the short block's among its blocks
  Permutation within_;  // of the rows of the open window
};

}  // namespace bdl
