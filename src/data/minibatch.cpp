#include "data/minibatch.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "rng/philox.hpp"

namespace bdl {

Index minibatch_size(const Options& options, Index examples) {
  const Index automatic = std::min(examples, std::clamp<Index>(examples / options.minibatches, 10, 200));
  const Index size = options.minibatch > 0 ? options.minibatch : automatic;
  if (size > examples)
    fail(Status::ERROR_INVALID_ARGUMENT, "option \"minibatch\" is %lld, but there are only %lld examples",
         static_cast<long long>(size), static_cast<long long>(examples));
  return size;
}

Minibatches::Minibatches(const Options& options, Index examples, const RowBlocks& blocks)
    : Minibatches(options, examples, 0, minibatch_size(options, examples), {0, blocks}) {
  batches_ = (examples + size_ - 1) / size_;
  batch_.reserve(static_cast<std::size_t>(size_) + 1);
}

Minibatches::Minibatches(const Options& options, Index examples, Index batches, Index size,
                         const Place& place)
    : examples_(examples),
      batches_(batches),
      size_(size),
      shard_(static_cast<std::uint32_t>(place.shard)),
      replacement_(options.sampling == Sampling::replacement),
      seed_(static_cast<std::uint64_t>(options.seed)),
      order_(seed_, examples, place.blocks, shard_) {
  if (replacement_ && place.blocks.given())
    fail(Status::ERROR_UNSUPPORTED,
         "option \"sampling\" is \"replacement\", but a data set in blocks is read without");
  batch_.reserve(static_cast<std::size_t>(std::max(size_, batches > 0 ? examples / batches : 0) + 1));
}

ConstSpan<Index> Minibatches::batch(Index epoch, Index number) {
  if (replacement_) {
    const auto step = static_cast<std::uint64_t>(epoch * batches_ + number);
    batch_.resize(static_cast<std::size_t>(size_));
    fill_indices({seed_, Stream::minibatch, step, shard_}, examples_, batch_);
    return batch_;
  }
  const Index first = start_of(number);
  batch_.resize(static_cast<std::size_t>(start_of(number + 1) - first));
  order_.fill(epoch, first, batch_);
  return batch_;
}

}  // namespace bdl
