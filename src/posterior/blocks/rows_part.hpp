// Curvature rows restricted to a range of the parameters.
#pragma once

#include "posterior/posterior.hpp"

namespace bdl {

/// Of rows that can only be had as a whole (Rows::part() is null): every operation is made of one on all
/// parameters. The rows and the workspace, whose memory it uses, must outlive it.
template <class T>
class RowsPart final : public Rows<T> {
 public:
  RowsPart(Rows<T>& rows, Index offset, Index size, UpdateWorkspace<T>& workspace)
      : rows_(rows), offset_(offset), size_(size), workspace_(workspace) {}

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
  MatrixView<T> whole(Index columns);
  void write_rows(Index first, MatrixView<T> out);
  Rows<T>& rows_;
  Index offset_, size_;
  UpdateWorkspace<T>& workspace_;
};

}  // namespace bdl
