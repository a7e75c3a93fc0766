// Curvature rows with the columns of a low-rank prior after them, so that H + U_0 U_0^T has one factor.
#pragma once

#include "curvature/dense_rows.hpp"

namespace bdl {

template <class T>
class JoinedRows final : public Rows<T> {
 public:
  /// The columns (D x K) must outlive it.
  void set_columns(ConstMatrixView<T> columns) { columns_.view(columns); }
  void set_rows(Rows<T>& rows) { rows_ = &rows; }

  Index dimension() const override { return columns_.dimension(); }
  Index count() const override { return rows_->count() + columns_.count(); }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override;
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override;
  RowsCost cost() const override;

 private:
  void add(ConstMatrixView<T> of_columns, MatrixView<T> out);
  Rows<T>* rows_ = nullptr;
  DenseRows<T> columns_;
  Buffer<T> of_columns_, cross_;
};

}  // namespace bdl
