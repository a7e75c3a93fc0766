// Coordinates of low-rank posteriors around one of them in which its Fisher information is near the identity,
// as gradient searches like it: with V = diag(d)^-1/2 U,
//   mu = mu_0 + diag(d)^-1/2 (I + V V^T)^-1/2 e,   U = U_0 + diag(d)^1/2 (I + V V^T)^1/2 E,   log d = log d_0
//   + f:
// the mean in its standard deviations, and changes of U in those of the precision's square root.
#pragma once

#include "posterior/low_rank.hpp"

namespace bdl {

class LowRankChart {
 public:
  LowRankChart(Index dimension, Index rank);
  /// Coordinates: e, E column by column, f.
  Index size() const { return dimension_ * (rank_ + 2); }
  void center(const LowRankPosterior<double>& q);
  /// q becomes the point with coordinates scale z. Fails with ERROR_DIVERGED if it is none.
  void place(ConstSpan<double> z, double scale, LowRankPosterior<double>& q);
  /// Derivatives with respect to mu, U and log d become those with respect to (e, E, f).
  void pull_back(ConstSpan<double> mean, ConstMatrixView<double> u, ConstSpan<double> log_d,
                 std::span<double> out);

 private:
  void transform(ConstMatrixView<double> middle, MatrixView<double> x);
  MatrixView<double> square(Buffer<double>& buffer) { return buffer.matrix(rank_, rank_); }
  Index dimension_, rank_;
  Buffer<double> mean_, u_, d_, root_d_, v_;
  Buffer<double> gram_, values_, vectors_, inverse_root_, root_;  // (I + V V^T)^+-1/2 = I + V M V^T
  Buffer<double> products_, point_;
  DirectEigen eigen_;
};

}  // namespace bdl
