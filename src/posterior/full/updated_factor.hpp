// A = [sqrt(keep) U, sqrt(w_1) b_1 ... sqrt(w_n) b_n], the target of the low-rank projection
// (docs/mathematics/natural-gradients.md, "The low-rank step and its projection"), never formed.
#pragma once

#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class UpdatedFactor final : public Factor<T> {
 public:
  UpdatedFactor(ConstMatrixView<T> u, double keep, Rows<T>& rows, ConstSpan<T> w,
                UpdateWorkspace<T>& workspace);
  /// What the cost model needs.
  static ProjectionSize size(Index dimension, Index rank, const RowsCost& cost);
  /// Memory for a projection of [U, rows] for a U of this rank.
  static void reserve(const ProjectionSize& size, Index rank, const RowsCost& rows,
                      const ProjectionOptions& options, UpdateWorkspace<T>& workspace);

  Index rows() const override { return u_.rows; }
  Index cols() const override { return u_.cols + rows_.count(); }
  void gram(MatrixView<double> out) override;
  void outer(MatrixView<double> out) override;
  void project(ConstMatrixView<T> q, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;

  static RowsUse use_of_rows(const ProjectionSize& size, const ProjectionOptions& options);

 private:
  static void reserve_gram(Index dimension, Index rank, Index n, UpdateWorkspace<T>& workspace);
  static void reserve_project(Index dimension, Index rank, Index columns, UpdateWorkspace<T>& workspace);
  static void reserve_combine(Index dimension, Index rank, Index n, Index columns,
                              UpdateWorkspace<T>& workspace);
  ConstMatrixView<T> u_;
  double keep_;  // sqrt(keep)
  Rows<T>& rows_;
  ConstSpan<T> w_, root_w_;
  UpdateWorkspace<T>& workspace_;
};

}  // namespace bdl
