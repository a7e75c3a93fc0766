// Memory for numbers that are needed for a while: a call takes what it needs in one line, and a Frame gives
// it back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/view.hpp"

namespace bdl {

/// A stack of memory for one thread. Numbers that were taken stay where they are until the innermost Frame
/// around them ends; parallel tasks use what was taken before their loop. The memory is kept: a computation
/// that is repeated takes it without a call of the system.
class Scratch {
 public:
  /// Gives back, when it ends, all that was taken since it began.
  class Frame {
   public:
    explicit Frame(Scratch& scratch)
        : scratch_(scratch), block_(scratch.block_), used_(scratch.used_), live_(scratch.live_) {}
    ~Frame() { scratch_.release(block_, used_, live_); }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Scratch& scratch_;
    std::size_t block_, used_, live_;
  };

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  /// Only memory that nobody uses, outside of all frames, may be moved.
  Scratch(Scratch&&) = default;
  Scratch& operator=(Scratch&&) = default;

  /// Returns `count` numbers, 64-byte aligned, whose values are unspecified. Fails with std::bad_alloc.
  template <class T>
  std::span<T> take(Index count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count > most_bytes / static_cast<Index>(sizeof(T))) throw std::bad_alloc();
    return {reinterpret_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T))),
            static_cast<std::size_t>(count)};
  }
  template <class T>
  MatrixView<T> matrix(Index rows, Index cols) {
    Index size = 0;
    if (__builtin_mul_overflow(rows, cols, &size)) throw std::bad_alloc();
    return {take<T>(size).data(), rows, cols};
  }
  /// Number of bytes that it holds.
  Index bytes() const;

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr Index most_bytes = PTRDIFF_MAX - static_cast<Index>(alignment);

  std::byte* take_bytes(std::size_t bytes);
  void release(std::size_t block, std::size_t used, std::size_t live) noexcept;

  std::vector<Buffer<std::byte>> blocks_;
  std::size_t block_ = 0, used_ = 0;  // where the next bytes are taken from
  std::size_t live_ = 0, peak_ = 0;   // bytes taken now, and at most
};

}  // namespace bdl
