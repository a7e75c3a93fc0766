// A = [sqrt(keep) U, sqrt(w_1) b_1 ... sqrt(w_n) b_n], the factor that a natural step makes of U and
// curvature rows before its projection to L columns (docs/mathematics/natural-gradients.md, "The low-rank
// step and its projection"). It is never formed.
#pragma once

#include "curvature/rows.hpp"
#include "linalg/tall/low_rank_projection.hpp"

namespace bdl {

template <class T>
class UpdatedFactor final : public Factor<T> {
 public:
  /// Takes its weights from the scratch, where they stay until the caller's frame ends.
  UpdatedFactor(ConstMatrixView<T> u, double keep, Rows<T>& rows, ConstSpan<T> w, Scratch& scratch);
  /// Returns the sizes of its projection to so many columns.
  ProjectionSize size(Index rank) const;

  Index rows() const override { return u_.rows; }
  Index cols() const override { return u_.cols + rows_.count(); }
  void gram(MatrixView<double> out) override;
  void outer(MatrixView<double> out) override;
  void project(ConstMatrixView<T> q, MatrixView<T> out) override;
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override;

 private:
  ConstMatrixView<T> u_;
  double root_keep_;
  Rows<T>& rows_;
  ConstSpan<T> w_;
  std::span<T> root_w_;
  Scratch& scratch_;
};

}  // namespace bdl
