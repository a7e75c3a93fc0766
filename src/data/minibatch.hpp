// Which examples a step of fit sees: a pure function of seed, epoch and position, so that a resumed run goes
// on exactly.
#pragma once

#include <vector>

#include "data/epoch_order.hpp"
#include "options/options.hpp"

namespace bdl {

/// Examples per step: the option, or chosen by the size of the data.
Index minibatch_size(const Options& options, Index examples);

class Minibatches {
 public:
  Minibatches(const Options& options, Index examples, const RowBlocks& blocks = {});
  /// Which order it is: that of a shard, perhaps in blocks.
  struct Place {
    Index shard = 0;
    RowBlocks blocks{};
  };
  /// Of a shard, which has an order of its own: so many batches, of so many examples with replacement.
  Minibatches(const Options& options, Index examples, Index batches, Index size, const Place& place);
  /// See EpochOrder.
  void tell(DataSet& data, Index first_row) { order_.tell(data, first_row); }
  Index batches() const { return batches_; }
  Index size() const { return size_; }
  /// Examples of the largest batch.
  Index largest() const { return replacement_ ? size_ : (examples_ + batches_ - 1) / batches_; }
  /// Example numbers of a batch; batches of a shuffled epoch differ in size by at most one.
  ConstSpan<Index> batch(Index epoch, Index number);

 private:
  /// The first place of a batch in its epoch.
  Index start_of(Index number) const {
    __extension__ typedef __int128 Wide;  // for very many examples
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
