// Gauss and Jordan's elimination in place with pivots of columns, a panel of columns at a time (Golub and Van
// Loan, section 3.4): all but the panels is products.
#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"
#include "linalg/dense/positive_matrix.hpp"

namespace bdl {
namespace {

constexpr Index panel_columns = 32;

void swap_rows(MatrixView<double> a, Index i, Index k) {
  if (i == k) return;
  for (Index j = 0; j < a.cols; ++j) std::swap(a(i, j), a(k, j));
}

/// The row at or below `row` with the column's largest element; -1 if that is 0 or not finite.
Index pivot_of(const double* column, Index row, Index rows) {
  Index best = row;
  double sum = 0;
  for (Index i = row; i < rows; ++i) {
    sum += 0 * column[i];
    if (std::abs(column[i]) > std::abs(column[best])) best = i;
  }
  return sum == 0 && column[best] != 0 ? best : -1;
}

/// Eliminates column j of the panel by its row `row`, in all rows; the column becomes that of the inverse.
void eliminate(MatrixView<double> panel, Index j, Index row) {
  double* const pivots = panel.column_data(j);
  const double inverse = 1 / pivots[row];
  for (Index i = 0; i < panel.rows; ++i) pivots[i] *= -inverse;
  pivots[row] = inverse;
  for (Index k = 0; k < panel.cols; ++k) {
    if (k == j) continue;
    double* const column = panel.column_data(k);
    const double factor = column[row];
    column[row] = 0;
    for (Index i = 0; i < panel.rows; ++i) column[i] += factor * pivots[i];
  }
}

/// X = X + P X_R in all rows but those of R, P X_R in these: what the panel P does to other columns.
void update(ConstMatrixView<double> panel, Index row, MatrixView<double> x, MatrixView<double> pivot_rows) {
  for (Index j = 0; j < x.cols; ++j) {
    std::copy_n(x.column_data(j) + row, panel.cols, pivot_rows.column_data(j));
    std::fill_n(x.column_data(j) + row, panel.cols, 0.0);
  }
  gemm(Op::none, Op::none, 1.0, panel, pivot_rows, 1.0, x);
}

}  // namespace

void reserve_inverse(Index size, DenseScratch& scratch) {
  scratch.pivots.reserve(size);
  scratch.product.reserve(panel_columns * size);
}

bool invert_general(MatrixView<double> a, DenseScratch& scratch) {
  const Index n = a.rows;
  reserve_inverse(n, scratch);
  int* const pivots = scratch.pivots.data();
  for (Index first = 0; first < n; first += panel_columns) {
    const Index count = std::min(panel_columns, n - first), after = first + count;
    const auto panel = a.columns(first, count);
    for (Index j = 0; j < count; ++j) {
      const Index row = first + j, pivot = pivot_of(panel.column_data(j), row, n);
      if (pivot < 0) return false;
      pivots[row] = static_cast<int>(pivot);
      swap_rows(a, row, pivot);
      eliminate(panel, j, row);
    }
    update(panel, first, a.columns(0, first), scratch.product.matrix(count, first));
    update(panel, first, a.columns(after, n - after), scratch.product.matrix(count, n - after));
  }
  for (Index j = n - 1; j >= 0; --j)
    if (pivots[j] != j) std::swap_ranges(a.column_data(j), a.column_data(j) + n, a.column_data(pivots[j]));
  return true;
}

}  // namespace bdl
