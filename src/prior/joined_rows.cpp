#include "prior/joined_rows.hpp"

#include <algorithm>

#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
void JoinedRows<T>::reserve(Index dimension, Index columns, Index n, const RowsUse& use) {
  part_.reserve(dimension * std::max<Index>(use.vectors, 1));
  if (use.gram) cross_.reserve(columns * n);
  columns_.reserve_use(dimension, columns, use);
}

/// out += what part_ holds.
template <class T>
void JoinedRows<T>::add(MatrixView<T> out) {
  for (Index k = 0; k < out.cols; ++k) {
    const T* const from = part_.data() + k * out.rows;
    T* const to = out.column_data(k);
    for_each_index(out.rows, [=](Index i) BDL_INLINE_LAMBDA { to[i] += from[i]; });
  }
}

template <class T>
void JoinedRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count(), 1}, {out.data(), dimension(), 1});
}

template <class T>
void JoinedRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  const auto n = static_cast<std::size_t>(rows_->count());
  rows_->sum_squares(w.first(n), out);
  part_.reserve(dimension());
  columns_.sum_squares(w.subspan(n), part_.first(dimension()));
  add({out.data(), dimension(), 1});
}

template <class T>
void JoinedRows<T>::gram(MatrixView<double> out) {
  const Index n = rows_->count(), k = columns_.count();
  rows_->gram(out.block(0, 0, n, n));
  columns_.gram(out.block(n, n, k, k));
  cross_.reserve(k * n);
  const auto cross = cross_.matrix(k, n);
  rows_->project(columns_.matrix(), cross);
  for (Index r = 0; r < n; ++r)
    for (Index i = 0; i < k; ++i) out(n + i, r) = static_cast<double>(cross(i, r));
}

template <class T>
void JoinedRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  const Index n = rows_->count();
  rows_->project(u, out.columns(0, n));
  columns_.project(u, out.columns(n, columns_.count()));
}

template <class T>
void JoinedRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  const Index n = rows_->count();
  rows_->combine(w.block(0, 0, n, w.cols), out);
  part_.reserve(dimension() * w.cols);
  columns_.combine(w.block(n, 0, columns_.count(), w.cols), part_.matrix(dimension(), w.cols));
  add(out);
}

template <class T>
void JoinedRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  const auto n = static_cast<std::size_t>(rows_->count());
  rows_->add_outer(w.first(n), out);
  columns_.add_outer(w.subspan(n), out);
}

template <class T>
void JoinedRows<T>::write_row(Index r, Index first, std::span<T> out) const {
  const Index n = rows_->count();
  if (r < n)
    rows_->write_row(r, first, out);
  else
    columns_.write_row(r - n, first, out);
}

template <class T>
RowsCost JoinedRows<T>::joined(RowsCost rows, Index dimension, Index columns) {
  const auto d = static_cast<double>(dimension), k = static_cast<double>(columns);
  rows.gram_flops += k * (rows.product_flops + k * d);
  rows.product_flops += 2 * k * d;
  rows.count += columns;
  return rows;
}

template class JoinedRows<float>;
template class JoinedRows<double>;

}  // namespace bdl
