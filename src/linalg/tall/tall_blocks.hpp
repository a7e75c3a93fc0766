// How passes over tall matrices divide the rows: into parts, each with sums of its own, and these into blocks
// that stay in the cache. Both depend on sizes alone, so results do not depend on the number of threads.
#pragma once

#include <algorithm>

#include "base/scratch.hpp"
#include "linalg/tall/tall_kernels.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

inline constexpr Index most_parts = 32, least_part_rows = 4096;
inline constexpr Index most_block_rows = 480;

inline Index part_rows(Index rows) {
  return std::max(least_part_rows, padded((rows + most_parts - 1) / most_parts, row_multiple));
}

inline Index part_count(Index rows) {
  return (rows + part_rows(rows) - 1) / part_rows(rows);
}

/// Rows of a block of a matrix with that many columns. The columns of a second matrix do not count, so that
/// the result of one of them does not depend on how many there are.
inline Index block_rows_for(Index columns) {
  constexpr Index block_doubles = 1 << 12;
  const Index fitting = block_doubles / (columns + 2) / row_multiple * row_multiple;
  return std::clamp<Index>(fitting, 2 * row_multiple, most_block_rows);
}

/// Sizes of what each part works with: a block of two matrices, whose rows suit `rank` columns, and sums.
struct TallSizes {
  Index rows, rank, u_columns, x_columns = 0, sums = 0;
};

/// Memory of a pass, which is there as long as the caller's frame of the scratch.
class TallParts {
 public:
  /// Scales of a block's rows, the block of each matrix (columns block_rows() apart), and sums.
  struct Part {
    double *scale, *u, *x, *sums;
  };

  TallParts(const TallSizes& sizes, Scratch& scratch)
      : sizes_(sizes),
        block_rows_(block_rows_for(sizes.rank)),
        part_size_(block_rows_ * (1 + sizes.u_columns + sizes.x_columns) + padded(sizes.sums, 8)),
        memory_(scratch.take<double>(part_count(sizes.rows) * part_size_).data()) {
    for (Index k = 0; k < part_count(sizes.rows); ++k) std::fill_n(part(k).sums, sizes.sums, 0.0);
  }

  Index block_rows() const { return block_rows_; }
  Part part(Index number) const {
    double* const scale = memory_ + number * part_size_;
    double* const u = scale + block_rows_;
    double* const x = u + block_rows_ * sizes_.u_columns;
    return {scale, u, x, x + block_rows_ * sizes_.x_columns};
  }

  /// Calls visit(part, first row, number of rows) for each block of rows, the parts on all threads.
  template <class Visit>
  void for_blocks(const Visit& visit) const {
    const Index rows = sizes_.rows, size = part_rows(rows);
    parallel_for(part_count(rows), [&](Index number) noexcept {
      const Index end = std::min(rows, (number + 1) * size);
      for (Index first = number * size; first < end; first += block_rows_)
        visit(part(number), first, std::min(block_rows_, end - first));
    });
  }

  /// out = sum of the parts' sums, in their order: of those from `offset` on, in columns `ld` apart.
  void add_up(Index ld, Index offset, MatrixView<double> out) const {
    for (Index j = 0; j < out.cols; ++j) std::ranges::fill(out.column(j), 0.0);
    for (Index k = 0; k < part_count(sizes_.rows); ++k) {
      const double* const sums = part(k).sums + offset;
      for (Index j = 0; j < out.cols; ++j)
        for (Index i = 0; i < out.rows; ++i) out(i, j) += sums[i + j * ld];
    }
  }

 private:
  TallSizes sizes_;
  Index block_rows_, part_size_;
  double* memory_;
};

/// `count` values from `first` on, or none if there are none.
template <class T>
ConstSpan<T> some_of(ConstSpan<T> values, Index first, Index count) {
  return values.empty() ? values
                        : values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

}  // namespace bdl
