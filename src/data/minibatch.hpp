// Which examples a step of fit sees: a pure function of seed, epoch and position, so that a resumed run goes
// on exactly.
#pragma once

#include <vector>

#include "options/options.hpp"

namespace bdl {

/// Examples per step: the option, or chosen by the size of the data.
Index minibatch_size(const Options& options, Index examples);

class Minibatches {
 public:
  Minibatches(const Options& options, Index examples);
  /// Of a shard, which has an order of its own: so many batches, of so many examples with replacement.
  Minibatches(const Options& options, Index examples, Index batches, Index size, Index shard);
  Index batches() const { return batches_; }
  Index size() const { return size_; }
  /// Example numbers of a batch; batches of a shuffled epoch differ in size by at most one.
  ConstSpan<Index> batch(Index epoch, Index number);

 private:
  Index examples_, batches_, size_;
  std::uint32_t shard_ = 0;
  bool replacement_;
  std::uint64_t seed_;
  Index shuffled_epoch_ = -1;
  std::vector<Index> order_;
};

}  // namespace bdl
