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

Minibatches::Minibatches(const Options& options, Index examples)
    : Minibatches(options, examples, 0, minibatch_size(options, examples), 0) {
  batches_ = (examples + size_ - 1) / size_;
}

Minibatches::Minibatches(const Options& options, Index examples, Index batches, Index size, Index shard)
    : examples_(examples),
      batches_(batches),
      size_(size),
      shard_(static_cast<std::uint32_t>(shard)),
      replacement_(options.sampling == Sampling::replacement),
      seed_(static_cast<std::uint64_t>(options.seed)) {
  order_.resize(static_cast<std::size_t>(replacement_ ? size_ : examples));
}

ConstSpan<Index> Minibatches::batch(Index epoch, Index number) {
  if (replacement_) {
    const auto step = static_cast<std::uint64_t>(epoch * batches_ + number);
    fill_indices({seed_, Stream::minibatch, step, shard_}, examples_, order_);
    return order_;
  }
  if (epoch != shuffled_epoch_)
    fill_permutation({seed_, Stream::shuffle, static_cast<std::uint64_t>(epoch), shard_}, order_);
  shuffled_epoch_ = epoch;
  const Index first = number * examples_ / batches_, last = (number + 1) * examples_ / batches_;
  return ConstSpan<Index>(order_).subspan(static_cast<std::size_t>(first),
                                          static_cast<std::size_t>(last - first));
}

}  // namespace bdl
