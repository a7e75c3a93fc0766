// Sigma = (U U^T + diag(d))^-1 without a D x D matrix (docs/theory/gaussians.md, "Woodbury through a
// Cholesky factor"). Everything goes through the Cholesky factor Bc of M = I + V^T V, V = diag(d)^-1/2 U: its
// eigenvalues are at least 1, so it exists for every U.
#pragma once

#include "linalg/tall/tall.hpp"

namespace bdl {

/// Number of columns that share a pass over U; each is computed as if it were alone.
inline constexpr Index woodbury_columns = 8;

template <class T>
class Woodbury {
 public:
  /// Factorises M for U (D x L) and d in O(D L^2). False if they are not finite.
  [[nodiscard]] bool factorize(ConstMatrixView<T> u, ConstSpan<T> d, Scratch& scratch);
  /// Factorises M for gram = U^T diag(1/d) U.
  [[nodiscard]] bool factorize(ConstMatrixView<double> gram, ConstSpan<T> d);
  /// Factorises M = I, for U = 0, with results identical to those of factorize(). It allocates nothing if the
  /// rank is that of the last factorisation.
  bool set_diagonal(Index rank, ConstSpan<T> d);
  /// Copies a factorisation.
  void copy(const Woodbury& other);

  /// Bc, lower triangular.
  ConstMatrixView<double> core() const { return core_.matrix(rank_, rank_); }
  /// log|Sigma| = -sum log d - log|M|.
  double log_det_covariance() const { return log_det_; }

  /// X = Sigma X, column by column; O(D L) each.
  void solve(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x, Scratch& scratch) const;
  /// out_j = x_j^T Sigma x_j; X becomes Sigma X.
  void variances(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x, std::span<double> out,
                 Scratch& scratch) const;
  /// Turns columns of N(0, I) into columns of N(mean, Sigma), an empty mean being 0:
  /// y = mean + (eps - V X V^T eps) / sqrt(d) with X = Bc^-T (Bc + I)^-1.
  void color(ConstMatrixView<T> u, ConstSpan<T> d, ConstSpan<T> mean, MatrixView<T> eps,
             Scratch& scratch) const;
  /// diag(Sigma) = 1/d - colwise squared norms of Bc^-1 (U/d)^T, kept above its lower bound 1 /
  /// diag(Sigma^-1).
  void marginal_variance(ConstMatrixView<T> u, ConstSpan<T> d, std::span<T> variance, Scratch& scratch) const;

 private:
  MatrixView<double> solve_some(ConstMatrixView<T> u, ConstSpan<T> d, MatrixView<T> x,
                                Scratch& scratch) const;
  bool finish(ConstSpan<T> d);
  Index rank_ = 0;
  double log_det_ = 0;
  Buffer<double> core_, coloring_;  // Bc and X, both L x L
};

}  // namespace bdl
