#include "posterior/blocks/rows_part.hpp"

#include <algorithm>

#include "curvature/dense_rows.hpp"
#include "linalg/blas/blas.hpp"

namespace bdl {

/// Columns of all parameters.
template <class T>
MatrixView<T> RowsPart<T>::whole(Index columns) {
  workspace_.whole.reserve(rows_.dimension() * columns);
  return workspace_.whole.matrix(rows_.dimension(), columns);
}

template <class T>
void RowsPart<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count(), 1}, {out.data(), size_, 1});
}

template <class T>
void RowsPart<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  const auto all = whole(1);
  rows_.sum_squares(w, all.column(0));
  std::copy_n(all.data + offset_, size_, out.data());
}

template <class T>
void RowsPart<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  for (Index first = 0; first < w.cols; first += most_columns_together) {
    const auto some = w.columns(first, std::min(most_columns_together, w.cols - first));
    const auto all = whole(some.cols);
    rows_.combine(some, all);
    for (Index k = 0; k < some.cols; ++k)
      std::copy_n(all.column_data(k) + offset_, size_, out.column_data(first + k));
  }
}

template <class T>
void RowsPart<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  for (Index first = 0; first < u.cols; first += most_columns_together) {
    const auto all = whole(std::min(most_columns_together, u.cols - first));
    std::fill_n(all.data, all.size(), T(0));
    for (Index k = 0; k < all.cols; ++k) std::ranges::copy(u.column(first + k), all.column_data(k) + offset_);
    rows_.project(all, out.block(first, 0, all.cols, count()));
  }
}

/// Rows first, first + 1, ...: the combinations by unit vectors.
template <class T>
void RowsPart<T>::write_rows(Index first, MatrixView<T> out) {
  workspace_.units.reserve(count() * out.cols);
  const auto units = workspace_.units.matrix(count(), out.cols);
  std::fill_n(units.data, units.size(), T(0));
  for (Index k = 0; k < out.cols; ++k) units(first + k, k) = 1;
  combine(units, out);
}

template <class T>
void RowsPart<T>::gram(MatrixView<double> out) {
  workspace_.part_rows.reserve(size_ * count());
  const auto rows = workspace_.part_rows.matrix(size_, count());
  write_rows(0, rows);
  DenseRows<T> dense;
  dense.view(rows);
  dense.gram(out);
}

template <class T>
void RowsPart<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  const Index most = std::min(most_outer_rows, count());
  workspace_.part_rows.reserve(size_ * most);
  for (Index first = 0; first < count(); first += most) {
    const auto rows = workspace_.part_rows.matrix(size_, std::min(most, count() - first));
    write_rows(first, rows);
    add_weighted_outer<T>(rows,
                          w.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows.cols)),
                          out, workspace_.outer);
  }
}

template <class T>
RowsCost RowsPart<T>::cost() const {
  RowsCost cost = rows_.cost();
  const double n = static_cast<double>(cost.count);
  cost.gram_flops = n * (cost.product_flops + n * static_cast<double>(size_));
  return cost;
}

template class RowsPart<float>;
template class RowsPart<double>;

}  // namespace bdl
