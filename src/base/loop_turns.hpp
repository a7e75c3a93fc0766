// Long loops of short turns, on one thread, ask the interrupt now and then: within an Interruptible only.
#pragma once

#include <algorithm>

#include "base/interrupt.hpp"
#include "base/view.hpp"

namespace bdl {

/// Called in each turn, with the numbers that it goes through.
class LoopTurns {
 public:
  void operator()(Index numbers = 1) {
    left_ -= numbers;
    if (left_ >= 0) return;
    left_ = every;
    check_loop();
  }

 private:
  static constexpr Index every = 1 << 16;
  Index left_ = every;
};

/// Numbers or bytes that do not take long to copy, also into memory that the system has yet to find.
constexpr std::size_t part_size = std::size_t{1} << 18;

/// use(first, count) for parts of 0 .. size - 1.
template <class Use>
void in_parts(std::size_t size, Use&& use) {
  for (std::size_t first = 0; first < size; first += part_size) {
    check_loop();
    use(first, std::min(part_size, size - first));
  }
}

template <class T>
void fill_in_parts(T* out, Index count, T value) {
  in_parts(static_cast<std::size_t>(count),
           [&](std::size_t first, std::size_t some) { std::fill_n(out + first, some, value); });
}

template <class T>
void copy_in_parts(const T* from, Index count, T* out) {
  in_parts(static_cast<std::size_t>(count),
           [&](std::size_t first, std::size_t some) { std::copy_n(from + first, some, out + first); });
}

/// use(block, row, column) for blocks of a matrix, which begin at row and column, with ask() before each.
template <class T, class Ask, class Use>
void in_blocks(MatrixView<T> matrix, Ask&& ask, Use&& use) {
  constexpr auto most = static_cast<Index>(part_size);
  const Index rows = std::clamp<Index>(matrix.rows, 1, most), cols = most / rows;
  for (Index j = 0; j < matrix.cols; j += cols)
    for (Index i = 0; i < matrix.rows; i += rows) {
      ask();
      use(matrix.block(i, j, std::min(rows, matrix.rows - i), std::min(cols, matrix.cols - j)), i, j);
    }
}

}  // namespace bdl
