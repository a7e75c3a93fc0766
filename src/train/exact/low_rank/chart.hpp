// Coordinates (e, E, f) of low-rank posteriors around one of them in which its Fisher information is near
// the identity, so that gradient searches converge fast. With V = diag(d)^-1/2 U there:
//   mu = mu_0 + diag(d)^-1/2 (I + V V^T)^-1/2 e    e: shift of the mean in its standard deviations,
//   U  = U_0 + diag(d)^1/2 (I + V V^T)^1/2 E       E: change of U in units of the precision's square root,
//   d  = least + (s_0 + unit ∘ f)^2                f: change of d, about relative to d.
#pragma once

#include "posterior/low_rank/low_rank.hpp"

namespace bdl {

class LowRankChart {
 public:
  /// Sets bounds of d. As in factor analysis (Heywood cases), the ELBO may be highest at d_j = 0, where the
  /// arithmetic ends; through the square, such a bound is an ordinary stationary point.
  LowRankChart(Index rank, ConstSpan<double> least);
  LowRankChart() = default;
  void reserve(Index dimension, Index rank);
  /// Number of coordinates: e, E column by column, f.
  Index size() const { return dimension_ * (rank_ + 2); }
  /// Makes q the origin. A d below its bound counts as being at the bound.
  void center(const LowRankPosterior<double>& q);
  /// Sets q to the point scale * z. Fails with ERROR_DIVERGED if that point is no posterior.
  void place(ConstSpan<double> z, double scale, LowRankPosterior<double>& q);
  /// Turns derivatives by mu, U and d at the last point placed into derivatives by (e, E, f).
  void pull_back(ConstSpan<double> mean, ConstMatrixView<double> u, ConstSpan<double> d,
                 std::span<double> out);

 private:
  void transform(ConstMatrixView<double> middle, MatrixView<double> x);
  MatrixView<double> square(Buffer<double>& buffer) { return buffer.matrix(rank_, rank_); }
  Index dimension_ = 0, rank_ = 0;
  Buffer<double> least_, mean_, u_, root_d_, v_, start_, unit_, s_;
  Buffer<double> gram_, values_, vectors_, inverse_root_, root_;  // (I + V V^T)^+-1/2 = I + V M V^T
  Buffer<double> products_, point_;
  Scratch scratch_;
};

}  // namespace bdl
