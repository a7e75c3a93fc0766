#include "base/scratch.hpp"

namespace bdl {

Index Scratch::bytes() const {
  Index sum = 0;
  for (const Buffer<std::byte>& block : blocks_) sum += block.bytes();
  return sum;
}

std::byte* Scratch::take_bytes(std::size_t bytes) {
  bytes = (bytes + alignment - 1) / alignment * alignment;
  while (block_ < blocks_.size() && used_ + bytes > static_cast<std::size_t>(blocks_[block_].capacity())) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) blocks_.emplace_back(static_cast<Index>(bytes));
  std::byte* const taken = blocks_[block_].data() + used_;
  used_ += bytes;
  live_ += bytes;
  peak_ = std::max(peak_, live_);
  return taken;
}

/// When nothing is taken any more, the blocks of a first computation become one that holds all of it.
void Scratch::release(std::size_t block, std::size_t used, std::size_t live) noexcept {
  block_ = block;
  used_ = used;
  live_ = live;
  if (live_ > 0 || blocks_.size() < 2) return;
  blocks_.clear();
  try {
    blocks_.emplace_back(static_cast<Index>(peak_));
  } catch (const std::bad_alloc&) {  // the next computation takes what it needs, or fails
  }
}

}  // namespace bdl
