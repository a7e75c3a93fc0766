// The two passes over the rows of a tall factor A (D x m) that a projection of diag(d) + A A^T to fewer
// columns takes (docs/theory/natural-gradients.md, "The low-rank step and its projection").
#pragma once

#include "linalg/tall/tall.hpp"

namespace bdl {

/// A = [s_0 A_0, s_1 A_1, s_2 A_2]: columns that stand in several matrices, with a scale for each.
template <class T>
struct TallColumns {
  struct Part {
    ConstMatrixView<T> columns;
    double scale;
  };
  Part parts[3];

  Index rows() const { return parts[0].columns.rows; }
  Index cols() const { return parts[0].columns.cols + parts[1].columns.cols + parts[2].columns.cols; }
};

/// gram = A^T A, weighted = A^T diag(1/d) A (lower triangles) and projected = A^T (m / d), in one pass.
template <class T>
void tall_grams(const TallColumns<T>& a, ConstSpan<T> d, ConstSpan<T> m, MatrixView<double> gram,
                MatrixView<double> weighted, std::span<double> projected, Scratch& scratch);

/// plain = [U, X]^T X and divided = [U, X]^T diag(1/d) [X, m], in one pass, where U^T U and U^T diag(1/d) U
/// are known already.
template <class T>
void tall_cross(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> d, ConstSpan<T> m,
                MatrixView<double> plain, MatrixView<double> divided, Scratch& scratch);

/// Number of columns that tall_drop takes at most.
inline constexpr Index most_dropping_columns = 64;

/// Results of the second pass over the rows of A.
template <class T>
struct TallUpdate {
  MatrixView<T> u;
  std::span<T> d;  ///< d += rowsums(A^2) - rowsums(U^2), which is not negative
  ConstSpan<T> m;
  std::span<T> step;  ///< (diag(d) + A A^T)^-1 m = (m - A c) / d with the old d
  MatrixView<double> gram,
      weighted;  ///< U^T U and U^T diag(1/d) U with the new d: identical to what tall_gram gives
};

/// U = A Q for C = [Q, c] (m x (L + 1)).
template <class T>
void tall_rotate(const TallColumns<T>& a, ConstMatrixView<double> c, const TallUpdate<T>& update,
                 Scratch& scratch);

/// A has one column more than U and loses the unit direction q: U = A H without its last column, for a
/// reflection H that takes the last unit vector to +-q. Two products a row in place of L.
template <class T>
void tall_drop(const TallColumns<T>& a, ConstSpan<double> q, ConstSpan<double> c, const TallUpdate<T>& update,
               Scratch& scratch);

}  // namespace bdl
