// Curvature rows b_r, r = 1..n, known through six operations (docs/mathematics/rows.md, "The six
// operations"): no D x n matrix is needed.
#pragma once

#include <algorithm>

#include "base/error.hpp"
#include "base/view.hpp"

namespace bdl {

/// For the cost model that chooses how eigenpairs are found.
struct RowsCost {
  Index count = 0;           ///< n
  double gram_flops = 0;     ///< of gram()
  double product_flops = 0;  ///< of one column of project() or combine()
};

/// Rows a step may have: below what BLAS counts in, and their square fits 64 bits.
inline constexpr Index row_limit = Index{1} << 28;
inline void check_row_count(double rows) {
  if (rows > static_cast<double>(row_limit))
    fail(Status::ERROR_INVALID_ARGUMENT,
         "a step has %g rows (examples x samples x seeds), expected at most 2^28", rows);
}

/// Numbers of a lower triangle.
inline Index triangle(Index size) {
  return size * (size + 1) / 2;
}

template <class T>
class Rows {
 public:
  virtual ~Rows() = default;
  virtual Index dimension() const = 0;
  virtual Index count() const = 0;

  /// out = sum_r c_r b_r.
  virtual void sum(ConstSpan<T> c, std::span<T> out) = 0;
  /// out = sum_r w_r b_r^2.
  virtual void sum_squares(ConstSpan<T> w, std::span<T> out) = 0;
  /// Are sum and sum of squares cheaper together than one after the other?
  virtual bool has_sums_together() const { return false; }
  /// sum = sum_r c_r b_r and squares = sum_r w_r b_r^2.
  virtual void sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares) {
    this->sum(c, sum);
    sum_squares(w, squares);
  }
  /// Lower triangle of out = B^T B (n x n).
  virtual void gram(MatrixView<double> out) = 0;
  /// out = U^T B (L x n) for U: D x L.
  virtual void project(ConstMatrixView<T> u, MatrixView<T> out) = 0;
  /// out = B W (D x k) for W: n x k.
  virtual void combine(ConstMatrixView<T> w, MatrixView<T> out) = 0;
  /// Lower triangle of out += sum_r w_r b_r b_r^T (D x D).
  virtual void add_outer(ConstSpan<T> w, MatrixView<double> out) = 0;

  virtual RowsCost cost() const = 0;

  /// out = parameters from `first` on of b_r.
  virtual void write_row(Index r, Index first, std::span<T> out) const = 0;

  /// The same rows restricted to parameters offset .. offset + size - 1, in memory of these rows: they live
  /// as long as these stay as they are.
  virtual Rows& part(Index offset, Index size) = 0;
};

/// Rows that belong to single examples: row r = k n + j is seed k of example and sample j < n, and
/// g_j = sum_k z_r b_r is a gradient of theirs.
template <class T>
class ExampleRows : public Rows<T> {
 public:
  /// out_j = sum_p v_p g_jp^2 for all n = out.size() of them.
  virtual void gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) = 0;
  /// The g_j of some j, at most most_gradients of them, as rows; they live until the next call.
  virtual ExampleRows& gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) = 0;
};

/// Vectors that gradients are multiplied with at a time.
inline constexpr Index most_gradient_vectors = 4;

/// Gradients of single examples that are made at a time.
inline constexpr Index most_gradients = 64;

/// The expected Hessian H of the negative log likelihood, in the form that its estimate gives. One of three:
/// a factor, H = sum_r w_r b_r b_r^T with w_r >= 0; the matrix (lower triangle), which may be indefinite; or
/// its diagonal only.
template <class T>
struct Curvature {
  Rows<T>* rows = nullptr;
  ConstSpan<T> w;
  ConstMatrixView<double> matrix;
  ConstSpan<T> diagonal;
};

}  // namespace bdl
