#include "data/minibatch.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "rng/philox.hpp"

namespace bdl {
namespace {

/// Samples of the shuffle's streams. Without blocks the sample is the shard; with blocks one sample shuffles
/// them, and one each window.
enum : std::uint32_t { of_blocks = 1, of_windows = 2 };

/// Position of the shard in the step of a stream of blocks, above all epochs.
constexpr int shard_bit = 32;

}  // namespace

EpochOrder::EpochOrder(std::uint64_t seed, Index rows, const RowBlocks& blocks, std::uint32_t shard)
    : seed_(seed), shard_(shard), rows_(rows), blocks_(blocks) {
  if (!blocks_.given()) return;
  blocks_.rows = std::min(blocks.rows, rows);
  block_count_ = (rows + blocks_.rows - 1) / blocks_.rows;
  blocks_.window = std::min(blocks.window, block_count_);
}

void EpochOrder::fill(Index epoch, Index first, std::span<Index> out) {
  if (epoch != epoch_) begin(epoch);
  for (Index& row : out) {
    row = blocks_.given() ? in_blocks(first) : order_[first];
    ++first;
  }
}

/// Returns the key of an epoch's blocks, or of one window.
StreamKey EpochOrder::key(Index epoch, std::uint32_t sample) const {
  return {seed_, Stream::shuffle,
          static_cast<std::uint64_t>(epoch) | static_cast<std::uint64_t>(shard_) << shard_bit, sample};
}

void EpochOrder::begin(Index epoch) {
  epoch_ = -1;  // in case there is no memory
  window_ = -1;
  if (blocks_.given()) {
    order_.reset(key(epoch, of_blocks), block_count_);
    short_place_ = order_.place_of(block_count_ - 1);
  } else {
    order_.reset({seed_, Stream::shuffle, static_cast<std::uint64_t>(epoch), shard_}, rows_);
  }
  epoch_ = epoch;
}

/// Returns the first place of a window: earlier by the missing rows of the short block if that comes before
/// it.
Index EpochOrder::start_of(Index window) const {
  const Index block = window * blocks_.window;
  if (block >= block_count_) return rows_;
  return block * blocks_.rows - (short_place_ < block ? blocks_.rows - last_rows() : 0);
}

void EpochOrder::open(Index window) {
  const Index start = start_of(window);
  if (window_ < 0)
    tell_window(window, &DataSet::expect);
  else
    tell_window(window_, &DataSet::forget);
  tell_window(window + 1, &DataSet::expect);
  window_ = -1;
  within_.reset(key(epoch_, of_windows + static_cast<std::uint32_t>(window)), start_of(window + 1) - start);
  start_ = start;
  short_ = short_place_ - window * blocks_.window;
  window_ = window;
}

void EpochOrder::tell_window(Index window, void (DataSet::*hint)(Index first, Index count)) {
  if (!told_) return;
  const Index first = window * blocks_.window, end = std::min(first + blocks_.window, block_count_);
  for (Index place = first; place < end; ++place) {
    const Index row = order_[place] * blocks_.rows;
    (told_->*hint)(first_row_ + row, std::min(blocks_.rows, rows_ - row));
  }
}

Index EpochOrder::in_blocks(Index place) {
  Index window = place / (blocks_.window * blocks_.rows);
  if (start_of(window + 1) <= place) ++window;
  if (window != window_) open(window);
  Index row = within_[place - start_];
  const bool is_behind_short = short_ >= 0 && short_ < blocks_.window;
  if (is_behind_short && row >= short_ * blocks_.rows + last_rows()) row += blocks_.rows - last_rows();
  return order_[window * blocks_.window + row / blocks_.rows] * blocks_.rows + row % blocks_.rows;
}

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
         "option \"sampling\" is \"replacement\", but a data set in blocks is read without replacement");
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
