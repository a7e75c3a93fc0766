// Curvature of the negative log likelihood. Back-propagation turns each example, sample and seed into a row
// b_r of D numbers; gradient and curvature are sums g = sum_r c_r b_r and G = sum_r w_r b_r b_r^T. No D x n
// matrix is needed: rows are known through the six operations of class Rows (docs/theory/rows.md). In
// the order to read it:
//
//   this file          the operations, and the forms that a curvature has
//   dense_rows.hpp     rows as a plain matrix: the slow and obvious implementation
//   blocked_rows.hpp   rows of a network, layer by layer; rows_part.hpp restricts rows to a range
//   seeds.hpp          vectors at the outputs that are back-propagated, with c_r and w_r
//   estimator.hpp      gradient and curvature of a minibatch at posterior samples, as rows
//   data_rows.hpp      rows of a whole data set, computed anew for each operation
//   hessian.hpp        exact Hessians, by hessian_products.hpp; linear_hessian.hpp has one layer only
//   jacobian.hpp       derivatives of outputs, for predictions
//
// Nothing here knows posteriors: evidence/ asks for rows, posterior/ and steps/ use them.
#pragma once

#include <algorithm>

#include "base/error.hpp"
#include "base/view.hpp"

namespace bdl {

/// Costs by which the algorithm for eigenpairs is chosen.
struct RowsCost {
  Index count = 0;           ///< n
  double gram_flops = 0;     ///< flops of gram()
  double product_flops = 0;  ///< flops of one vector in project() or combine()
};

/// Largest number of rows of a step: BLAS counts in 32 bits, and the square must fit 64 bits.
inline constexpr Index row_limit = Index{1} << 28;
inline void check_row_count(double rows) {
  if (rows > static_cast<double>(row_limit))
    fail(Status::ERROR_INVALID_ARGUMENT,
         "a step has %g rows (examples x samples x seeds), expected at most 2^28", rows);
}

/// Returns the number of elements of a lower triangle.
inline Index triangle(Index size) {
  return size * (size + 1) / 2;
}

template <class T>
class Rows {
 public:
  virtual ~Rows() = default;
  virtual Index dimension() const = 0;
  virtual Index count() const = 0;

  /// Writes sum_r c_r b_r.
  virtual void sum(ConstSpan<T> c, std::span<T> out) = 0;
  /// Writes sum_r w_r b_r^2.
  virtual void sum_squares(ConstSpan<T> w, std::span<T> out) = 0;
  /// True if sum_and_squares() is faster than the two sums one after the other.
  virtual bool has_sums_together() const { return false; }
  /// Writes sum = sum_r c_r b_r and squares = sum_r w_r b_r^2.
  virtual void sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares) {
    this->sum(c, sum);
    sum_squares(w, squares);
  }
  /// Writes the lower triangle of B^T B (n x n). Rows that are computed anew for each operation have none;
  /// their cost() rules it out, and it fails where an option asks for it.
  virtual void gram(MatrixView<double>) {
    fail(Status::ERROR_UNSUPPORTED,
         "%lld rows are too many for the Gram matrix of a whole data set: choose another eigen_method",
         static_cast<long long>(count()));
  }
  /// Writes U^T B (L x n) for U: D x L.
  virtual void project(ConstMatrixView<T> u, MatrixView<T> out) = 0;
  /// Writes B W (D x k) for W: n x k.
  virtual void combine(ConstMatrixView<T> w, MatrixView<T> out) = 0;
  /// Adds sum_r w_r b_r b_r^T to the lower triangle of `out` (D x D).
  virtual void add_outer(ConstSpan<T> w, MatrixView<double> out) = 0;
  virtual RowsCost cost() const = 0;
};

/// Rows of a minibatch, which can be written one by one. Row r = k n + j is seed k of column j < n, an
/// example at a sample; g_j = sum_k z_r b_r is its gradient.
template <class T>
class ExampleRows : public Rows<T> {
 public:
  /// Writes out.size() elements of b_r from parameter `first` on.
  virtual void write_row(Index r, Index first, std::span<T> out) const = 0;
  /// Returns these rows restricted to parameters offset .. offset + size - 1, in memory of these rows: they
  /// are valid until these rows change.
  virtual Rows<T>& part(Index offset, Index size) = 0;
  /// Writes out_j = sum_p v_p g_jp^2 for all n = out.size() columns.
  virtual void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) = 0;
  /// Returns the gradients g_j of at most most_gradients columns j, as rows; they live until the next call.
  virtual ExampleRows& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) = 0;
};

/// Number of vectors that gradients are multiplied with at a time.
inline constexpr Index most_gradient_vectors = 4;

/// Number of single gradients that are computed at a time.
inline constexpr Index most_gradients = 64;

/// The expected Hessian H of the negative log likelihood in one of four forms: a factor, H = sum_r w_r b_r
/// b_r^T with w_r >= 0; a matrix (lower triangle), which may be indefinite; a diagonal; or the matrices of a
/// posterior's blocks, one after the other.
template <class T>
struct Curvature {
  Rows<T>* rows = nullptr;
  ConstSpan<T> w;
  ConstMatrixView<double> matrix;
  ConstSpan<T> diagonal;
  ConstSpan<double> blocks{};
};

}  // namespace bdl
