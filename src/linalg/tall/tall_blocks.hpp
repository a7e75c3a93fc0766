// How the tall products share out their rows: in parts, each with its own sums, and blocks that stay in the
// cache; the same for any number of threads.
#pragma once

#include <algorithm>

#include "linalg/tall/tall_kernels.hpp"
#include "parallel/parallel.hpp"
#include "parallel/shards.hpp"

namespace bdl {

inline constexpr Index most_parts = 32, least_part_rows = 4096;

inline Index part_rows(Index rows) {
  return std::max(least_part_rows, padded((rows + most_parts - 1) / most_parts, row_multiple));
}

inline Index part_count(Index rows) {
  return (rows + part_rows(rows) - 1) / part_rows(rows);
}

template <class T>
ConstSpan<T> part_of(ConstSpan<T> values, Index first, Index count) {
  return values.empty() ? values
                        : values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

inline ShardRange all_parts(Index rows) {
  return {0, part_count(rows)};
}

inline ShardRange rows_of_part(Index part, Index rows) {
  const Index size = part_rows(rows);
  return {part * size, std::min(rows, (part + 1) * size)};
}

/// visit(number of the part, first row, number of rows) for each block of rows of some parts, these on all
/// threads.
template <class Visit>
void for_blocks(Index rows, Index block_rows, const ShardRange& parts, Visit&& visit) {
  parallel_for(parts.count(), [&](Index number) noexcept {
    const Index part = parts.first + number;
    const ShardRange own = rows_of_part(part, rows);
    for (Index first = own.first; first < own.end; first += block_rows)
      visit(part, first, std::min(block_rows, own.end - first));
  });
}

template <class Visit>
void for_blocks(Index rows, Index block_rows, Visit&& visit) {
  for_blocks(rows, block_rows, all_parts(rows), visit);
}

inline void clear_products(Index rows, Index size, TallScratch& scratch) {
  for (Index part = 0; part < part_count(rows); ++part) std::fill_n(scratch.part(part).product, size, 0.0);
}

/// out = sum of the parts' products, in their order; of those that begin at `offset`.
inline void add_products(Index rows, Index ld, Index offset, MatrixView<double> out, TallScratch& scratch) {
  for (Index j = 0; j < out.cols; ++j) std::ranges::fill(out.column(j), 0.0);
  for (Index part = 0; part < part_count(rows); ++part) {
    const double* product = scratch.part(part).product + offset;
    for (Index j = 0; j < out.cols; ++j)
      for (Index i = 0; i < out.rows; ++i) out(i, j) += product[i + j * ld];
  }
}

}  // namespace bdl
