// Curvature rows restricted to a range of the parameters: some rows at a time are written out.
#pragma once

#include "curvature/rows.hpp"
#include "network/block_rows.hpp"

namespace bdl {

template <class T>
class RowsPart final : public Rows<T> {
 public:
  /// Rows and scratch must outlive it.
  RowsPart(ExampleRows<T>& rows, Index offset, Index size, Scratch& scratch)
      : rows_(rows), offset_(offset), size_(size), scratch_(scratch) {}

  Index dimension() const override { return size_; }
  Index count() const override { return rows_.count(); }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  RowsCost cost() const override;

 private:
  void write_rows(Index first, MatrixView<T> out) const;
  /// Calls visit(rows, number of the first one) for each group of written rows.
  template <class Visit>
  void for_each_written(Visit&& visit);

  ExampleRows<T>& rows_;
  Index offset_, size_;
  Scratch& scratch_;
};

}  // namespace bdl
