// Passes over tall matrices that all ranks have, whose parts the ranks share: every rank gets what all parts
// give, with the bits of one that does all of it.
#pragma once

#include <algorithm>
#include <cstring>

#include "linalg/tall/tall_blocks.hpp"
#include "ranks/shard_exchange.hpp"

namespace bdl {

/// All ranks make the same passes in the same order. Each begins with a vote, so that a rank which has failed
/// since the last message, and votes in the end, is heard.
class TallRanks {
 public:
  explicit TallRanks(Team& team) : team_(team) {}

  ShardRange own(Index parts) const { return shards_of(team_.rank(), team_.size(), parts); }

  /// pass(parts) makes products of so many numbers in the parts' scratch.
  template <class Pass>
  void share_products(Index rows, Index size, TallScratch& scratch, Pass&& pass) {
    const auto bytes = size * static_cast<Index>(sizeof(double));
    const auto product = [&](Index part) { return scratch.part(part).product; };
    exchange_.share(
        team_, part_count(rows), [=](Index) { return bytes; }, pass,
        [&](Index part, std::byte* to) { copy(product(part), bytes, to); },
        [&](Index part, const std::byte* from) { copy(from, bytes, product(part)); });
  }

  /// pass(parts) makes rows of y.
  template <class T, class Pass>
  void share_rows(MatrixView<T> y, Pass&& pass) {
    const auto rows = [=](Index part) { return rows_of_part(part, y.rows); };
    const auto column_bytes = [=](Index part) { return rows(part).count() * static_cast<Index>(sizeof(T)); };
    exchange_.share(
        team_, part_count(y.rows), [=](Index part) { return column_bytes(part) * y.cols; }, pass,
        [&](Index part, std::byte* to) {
          for (Index j = 0; j < y.cols; ++j, to += column_bytes(part))
            copy(y.column_data(j) + rows(part).first, column_bytes(part), to);
        },
        [&](Index part, const std::byte* from) {
          for (Index j = 0; j < y.cols; ++j, from += column_bytes(part))
            copy(from, column_bytes(part), y.column_data(j) + rows(part).first);
        });
  }

 private:
  static void copy(const void* from, Index bytes, void* to) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

  Team& team_;
  ShardExchange<std::byte> exchange_;
};

/// Rows of the parts that this rank has in share_rows().
inline ShardRange own_rows(Index rows, const TallScratch& scratch) {
  if (!scratch.ranks()) return {0, rows};
  const ShardRange parts = scratch.ranks()->own(part_count(rows));
  if (parts.count() == 0) return {0, 0};
  return {rows_of_part(parts.first, rows).first, rows_of_part(parts.end - 1, rows).end};
}

/// While it lives, the ranks share the passes with this scratch.
class SharedPasses {
 public:
  SharedPasses(TallScratch& scratch, TallRanks& ranks) : scratch_(scratch) { scratch.share(&ranks); }
  ~SharedPasses() { scratch_.share(nullptr); }
  SharedPasses(const SharedPasses&) = delete;
  SharedPasses& operator=(const SharedPasses&) = delete;

 private:
  TallScratch& scratch_;
};

/// On a rank, or alone.
template <class Pass>
void share_products(Index rows, Index size, TallScratch& scratch, Pass&& pass) {
  clear_products(rows, size, scratch);
  scratch.ranks() ? scratch.ranks()->share_products(rows, size, scratch, pass) : pass(all_parts(rows));
}

template <class T, class Pass>
void share_rows(MatrixView<T> y, TallScratch& scratch, Pass&& pass) {
  scratch.ranks() ? scratch.ranks()->share_rows(y, pass) : pass(all_parts(y.rows));
}

}  // namespace bdl
