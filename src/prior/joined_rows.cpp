#include "prior/joined_rows.hpp"

#include <algorithm>

#include "parallel/parallel.hpp"

namespace bdl {

/// Adds of_columns to out.
template <class T>
void JoinedRows<T>::add(ConstMatrixView<T> of_columns, MatrixView<T> out) {
  for (Index k = 0; k < out.cols; ++k) {
    const T* const from = of_columns.column_data(k);
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
  const auto squares = of_columns_.matrix(dimension(), 1);
  columns_.sum_squares(w.subspan(n), squares.column(0));
  add(squares, {out.data(), dimension(), 1});
}

template <class T>
void JoinedRows<T>::gram(MatrixView<double> out) {
  const Index n = rows_->count(), k = columns_.count();
  rows_->gram(out.block(0, 0, n, n));
  columns_.gram(out.block(n, n, k, k));
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
  const auto of_columns = of_columns_.matrix(dimension(), w.cols);
  columns_.combine(w.block(n, 0, columns_.count(), w.cols), of_columns);
  add(of_columns, out);
}

template <class T>
void JoinedRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  const auto n = static_cast<std::size_t>(rows_->count());
  rows_->add_outer(w.first(n), out);
  columns_.add_outer(w.subspan(n), out);
}

template <class T>
RowsCost JoinedRows<T>::cost() const {
  const auto d = static_cast<double>(dimension()), k = static_cast<double>(columns_.count());
  RowsCost cost = rows_->cost();
  cost.gram_flops += k * (cost.product_flops + k * d);
  cost.product_flops += 2 * k * d;
  cost.count += columns_.count();
  return cost;
}

template class JoinedRows<float>;
template class JoinedRows<double>;

}  // namespace bdl
