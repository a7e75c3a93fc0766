#include "linalg/blas/block_products.hpp"

#include <algorithm>

#include "linalg/eigen/lanes.hpp"

namespace bdl {
namespace {

/// A vector of a matrix whose columns are anywhere.
template <int W>
struct Unaligned {
  typedef double Vector __attribute__((vector_size(W * 8), aligned(8), may_alias));
};

/// J columns of A from `column`, rows first to last, and C columns of X and Y: Y += A X there; the rows of
/// A^T X go into `sums`.
template <int W, int J, int C>
BDL_ALWAYS_INLINE void symmetric_panel(const double* a, Index lda, Index first, Index last, const double* x,
                                       double* y, Index ld, Index column, double (&sums)[J][C]) {
  using Vector = typename Lanes<W>::Vector;
  using Loose = typename Unaligned<W>::Vector;
  Vector sum[J][C] = {};
  for (Index i = first; i < last; i += W) {
    Vector element[J];
    for (int j = 0; j < J; ++j) element[j] = *reinterpret_cast<const Loose*>(a + i + j * lda);
    for (int c = 0; c < C; ++c) {
      const Vector xi = vector_at<W>(x + i + c * ld);
      Vector yi = vector_at<W>(y + i + c * ld);
      for (int j = 0; j < J; ++j) {
        sum[j][c] += element[j] * xi;
        yi += element[j] * x[column + j + c * ld];
      }
      vector_at<W>(y + i + c * ld) = yi;
    }
  }
  for (int j = 0; j < J; ++j)
    for (int c = 0; c < C; ++c) sums[j][c] += sum_of<W>(sum[j][c]);
}

/// The lane_count x lane_count block on the diagonal, both triangles, zero beyond A.
void copy_diagonal_block(ConstMatrixView<double> a, Index at, double* block) {
  const Index size = std::min(lane_count, a.rows - at);
  std::fill_n(block, lane_count * lane_count, 0.0);
  for (Index j = 0; j < size; ++j)
    for (Index i = j; i < size; ++i)
      block[i + j * lane_count] = block[j + i * lane_count] = a(at + i, at + j);
}

template <int W, int J, int C>
BDL_ALWAYS_INLINE void symmetric_columns(ConstMatrixView<double> a, const double* x, double* y, Index ld) {
  alignas(64) double block[lane_count * lane_count];
  const Index n = a.rows, whole = n / lane_count * lane_count;
  std::fill_n(y, C * ld, 0.0);
  for (Index at = 0; at < n; at += lane_count) {
    copy_diagonal_block(a, at, block);
    for (int c = 0; c < C; ++c)
      for (Index j = 0; j < lane_count; ++j)
        for (Index i = 0; i < lane_count; i += W)
          vector_at<W>(y + at + i + c * ld) += vector_at<W>(block + i + j * lane_count) * x[at + j + c * ld];
    if (at + lane_count >= n) break;
    for (Index j = at; j < at + lane_count; j += J) {
      double sums[J][C] = {};
      symmetric_panel<W>(a.column_data(j), a.ld, at + lane_count, whole, x, y, ld, j, sums);
      if (whole < n) {  // the last rows, padded with zeros
        alignas(64) double rest[J * lane_count] = {};
        for (Index k = 0; k < J; ++k)
          std::copy_n(a.column_data(j + k) + whole, n - whole, rest + k * lane_count);
        symmetric_panel<W>(rest, lane_count, 0, lane_count, x + whole, y + whole, ld, j - whole, sums);
      }
      for (int c = 0; c < C; ++c)
        for (int k = 0; k < J; ++k) y[j + k + c * ld] += sums[k][c];
    }
  }
}

// Tiles of 4 x 4 sums fill the registers of AVX-512, 2 x 4 those of the narrower sets.
template <int W>
constexpr int tile_rows = W == 8 ? 4 : 2;
constexpr int tile_columns = 4;

struct SymmetricProduct {
  ConstMatrixView<double> a, x;
  MatrixView<double> y;

  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    constexpr int J = tile_rows<W>, C = tile_columns;
    Index c = 0;
    for (; c + C <= x.cols; c += C) symmetric_columns<W, J, C>(a, x.column_data(c), y.column_data(c), x.ld);
    for (; c < x.cols; ++c) symmetric_columns<W, J, 1>(a, x.column_data(c), y.column_data(c), x.ld);
  }
};

/// Calls kernel.tile<W, J, C>(row, column) for all tiles of a rows x columns matrix, smaller ones at its end.
template <int W, int J, class Kernel>
BDL_ALWAYS_INLINE void tile_row(const Kernel& kernel, Index row, Index columns) {
  Index c = 0;
  for (; c + tile_columns <= columns; c += tile_columns) kernel.template tile<W, J, tile_columns>(row, c);
  for (; c < columns; ++c) kernel.template tile<W, J, 1>(row, c);
}
template <int W, class Kernel>
BDL_ALWAYS_INLINE void tile_all(const Kernel& kernel, Index rows, Index columns) {
  constexpr int J = tile_rows<W>;
  Index row = 0;
  for (; row + J <= rows; row += J) tile_row<W, J>(kernel, row, columns);
  for (; row < rows; ++row) tile_row<W, 1>(kernel, row, columns);
}

/// C = X^T Y, a tile of J x C elements at a time.
struct InnerProducts {
  ConstMatrixView<double> x, y;
  MatrixView<double> out;

  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    tile_all<W>(*this, x.cols, y.cols);
  }
  template <int W, int J, int C>
  BDL_ALWAYS_INLINE void tile(Index row, Index column) const {
    using Vector = typename Lanes<W>::Vector;
    Vector sum[J][C] = {};
    for (Index i = 0; i < x.rows; i += W)
      for (int c = 0; c < C; ++c) {
        const Vector yi = vector_at<W>(y.column_data(column + c) + i);
        for (int j = 0; j < J; ++j) sum[j][c] += vector_at<W>(x.column_data(row + j) + i) * yi;
      }
    for (int c = 0; c < C; ++c)
      for (int j = 0; j < J; ++j) out(row + j, column + c) = sum_of<W>(sum[j][c]);
  }
};

/// Y += factor X C, of J columns of X to C of Y at a time.
struct Combinations {
  double factor;
  ConstMatrixView<double> x, by;
  MatrixView<double> y;

  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    tile_all<W>(*this, x.cols, y.cols);
  }
  template <int W, int J, int C>
  BDL_ALWAYS_INLINE void tile(Index row, Index column) const {
    using Vector = typename Lanes<W>::Vector;
    double weight[J][C];
    for (int j = 0; j < J; ++j)
      for (int c = 0; c < C; ++c) weight[j][c] = factor * by(row + j, column + c);
    for (Index i = 0; i < x.rows; i += W) {
      Vector xi[J];
      for (int j = 0; j < J; ++j) xi[j] = vector_at<W>(x.column_data(row + j) + i);
      for (int c = 0; c < C; ++c) {
        Vector& out = vector_at<W>(y.column_data(column + c) + i);
        Vector yi = out;
        for (int j = 0; j < J; ++j) yi += xi[j] * weight[j][c];
        out = yi;
      }
    }
  }
};

}  // namespace

void symmetric_product(ConstMatrixView<double> a, ConstMatrixView<double> x, MatrixView<double> y,
                       Simd simd) {
  run_in_lanes(simd, SymmetricProduct{a, x, y});
}

void inner_products(ConstMatrixView<double> x, ConstMatrixView<double> y, MatrixView<double> c, Simd simd) {
  run_in_lanes(simd, InnerProducts{x, y, c});
}

void add_combinations(double factor, ConstMatrixView<double> x, ConstMatrixView<double> c,
                      MatrixView<double> y, Simd simd) {
  run_in_lanes(simd, Combinations{factor, x, c, y});
}

}  // namespace bdl
