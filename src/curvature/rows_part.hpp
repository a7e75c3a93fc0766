// Curvature rows restricted to a range of the parameters: some rows at a time are written out.
#pragma once

#include <memory>
#include <vector>

#include "curvature/rows.hpp"
#include "network/block_rows.hpp"

namespace bdl {

template <class T>
class RowsPart final : public Rows<T> {
 public:
  /// Rows and scratch must outlive it.
  RowsPart(Rows<T>& rows, Index offset, Index size, Scratch& scratch)
      : rows_(rows), offset_(offset), size_(size), scratch_(scratch) {}

  Index offset() const { return offset_; }
  Index dimension() const override { return size_; }
  Index count() const override { return rows_.count(); }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  void write_row(Index r, Index first, std::span<T> out) const override {
    rows_.write_row(r, offset_ + first, out);
  }
  Rows<T>& part(Index offset, Index size) override { return rows_.part(offset_ + offset, size); }
  RowsCost cost() const override;

 private:
  void write_rows(Index first, MatrixView<T> out) const;
  /// Calls visit(rows, number of the first one) for each group of written rows.
  template <class Visit>
  void for_each_written(Visit&& visit);

  Rows<T>& rows_;
  Index offset_, size_;
  Scratch& scratch_;
};

/// The ranges that were asked for, which live as long as their rows.
template <class T>
class RowsParts {
 public:
  Rows<T>& of(Rows<T>& rows, Index offset, Index size);

 private:
  Scratch scratch_;
  std::vector<std::unique_ptr<RowsPart<T>>> parts_;
};

}  // namespace bdl
