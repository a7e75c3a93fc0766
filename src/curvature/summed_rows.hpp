// Presents a curvature that has been added up where an update expects rows: it acts as a single "row" of
// weight 1 in sums of squares or of outer products.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "curvature/rows.hpp"

namespace bdl {

/// Position of a matrix on the diagonal of the curvature.
struct DiagonalBlock {
  Index offset, size;
};

template <class T>
class SummedRows final : public Rows<T> {
 public:
  /// Holds a diagonal; `sums` must outlive it.
  SummedRows(Index dimension, ConstSpan<double> sums) : dimension_(dimension), sums_(sums) {}
  /// Holds matrices on the diagonal, one after the other in `sums`; only their lower triangles are read.
  SummedRows(Index dimension, std::vector<DiagonalBlock> blocks, ConstSpan<double> sums)
      : dimension_(dimension), blocks_(std::move(blocks)), sums_(sums) {}

  ConstSpan<T> weights() const { return {&one_, 1}; }
  Index dimension() const override { return dimension_; }
  Index count() const override { return 1; }
  void sum_squares(ConstSpan<T> w, std::span<T> out) override {
    if (!blocks_.empty()) fail_unknown();
    std::ranges::transform(sums_, out.begin(),
                           [&](double sum) { return static_cast<T>(static_cast<double>(w[0]) * sum); });
  }
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override {
    if (std::ssize(blocks_) != 1 || blocks_[0].size != dimension_) fail_unknown();
    for (Index j = 0; j < dimension_; ++j)
      for (Index i = j; i < dimension_; ++i)
        out(i, j) += static_cast<double>(w[0]) * sums_[static_cast<std::size_t>(j * dimension_ + i)];
  }
  /// Returns one of the matrices, until the next call.
  Rows<T>& part(Index offset, Index size) override {
    Index first = 0;
    for (const DiagonalBlock& block : blocks_) {
      if (block.offset == offset && block.size == size) {
        const auto numbers =
            sums_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size * size));
        part_ = std::make_unique<SummedRows>(size, std::vector<DiagonalBlock>{{0, size}}, numbers);
        return *part_;
      }
      first += block.size * block.size;
    }
    fail_unknown();
  }
  RowsCost cost() const override { return {1, 0, 0}; }
  void sum(ConstSpan<T>, std::span<T>) override { fail_unknown(); }
  void gram(MatrixView<double>) override { fail_unknown(); }
  void project(ConstMatrixView<T>, MatrixView<T>) override { fail_unknown(); }
  void combine(ConstMatrixView<T>, MatrixView<T>) override { fail_unknown(); }
  void write_row(Index, Index, std::span<T>) const override { fail_unknown(); }

 private:
  [[noreturn]] static void fail_unknown() {
    fail(Status::ERROR_INTERNAL, "a curvature that was added up has no rows");
  }
  Index dimension_;
  std::vector<DiagonalBlock> blocks_;  // empty: a diagonal
  ConstSpan<double> sums_;
  std::unique_ptr<SummedRows> part_;
  T one_ = 1;
};

}  // namespace bdl
