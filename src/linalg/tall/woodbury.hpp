// Sigma = (U U^T + diag(d))^-1 without a D x D matrix (docs/mathematics/gaussians.md, "Woodbury through a
// Cholesky factor"). Everything goes through the Cholesky factor Bc of M = I + V^T V, V = diag(d)^-1/2 U: its
// eigenvalues are at least 1, so it exists for every U.
#pragma once

#include "linalg/tall/tall.hpp"

namespace bdl {

template <class T>
class Woodbury {
 public:
  void reserve(Index rank);
  Index bytes() const { return core_.bytes() + coloring_.bytes(); }

  /// Factorises for the given U (D x L) and d; O(D L^2). False if they are not finite.
  [[nodiscard]] bool factorize(ConstMatrixView<T> u, ConstSpan<T> d, TallScratch& scratch);

  /// The same from gram = U^T diag(1/d) U.
  [[nodiscard]] bool factorize(ConstMatrixView<double> gram, ConstSpan<T> d);
  /// Bc of I + U^T diag(1/d) U, lower triangular.
  ConstMatrixView<double> core() const { return core_.matrix(rank_, rank_); }

  /// Of the same rank.
  void copy(const Woodbury& other);

  /// The factorisation for U = 0, in the same bits; allocates nothing once reserve(rank) was called.
  bool set_diagonal(Index rank, ConstSpan<T> d);

  /// log|Sigma| = -sum log d - log|M|.
  double log_det_covariance() const { return log_det_; }

  /// Memory for solve() and color() of this many columns: they allocate nothing then.
  void reserve_scratch(Index dimension, Index columns, TallScratch& scratch, Buffer<double>& small) const;

  /// X = Sigma X, column by column; O(D L) each.
  void solve(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x, TallScratch& scratch,
             Buffer<double>& small) const;

  /// out_j = x_j^T Sigma x_j; X becomes Sigma X.
  void variances(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x, std::span<double> out,
                 TallScratch& scratch, Buffer<double>& small) const;

  /// Turns columns of N(0, I) into columns of N(mean, Sigma), an empty mean being 0:
  /// y = mean + (eps - V X V^T eps) / sqrt(d) with X = Bc^-T (Bc + I)^-1.
  void color(ConstMatrixView<T> u, ConstSpan<T> d, ConstSpan<T> mean, MatrixView<T> eps, TallScratch& scratch,
             Buffer<double>& small) const;

  /// diag(Sigma) = 1/d - colwise squared norms of Bc^-1 (U/d)^T, kept above its lower bound 1 /
  /// diag(Sigma^-1).
  void marginal_variance(ConstMatrixView<T> u, ConstSpan<T> d, std::span<T> variance,
                         TallScratch& scratch) const;

 private:
  bool finish(ConstSpan<T> d);
  Index rank_ = 0;
  double log_det_ = 0;
  Buffer<double> core_, coloring_;  // Bc and X, both L x L
};

}  // namespace bdl
