#include "curvature/rows_part.hpp"

#include <algorithm>

#include "curvature/dense_rows.hpp"
#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// Writes out.cols rows, from row `first` on, into the columns of `out`.
template <class T>
void RowsPart<T>::write_rows(Index first, MatrixView<T> out) const {
  parallel_blocks(out.cols, task_grain(size_), [&](Index begin, Index some) noexcept {
    for (Index r = begin; r < begin + some; ++r) rows_.write_row(first + r, offset_, out.column(r));
  });
}

template <class T>
template <class Visit>
void RowsPart<T>::for_each_written(Visit&& visit) {
  const Scratch::Frame frame(scratch_);
  const auto written = scratch_.matrix<T>(size_, std::min(most_outer_rows, count()));
  for (Index first = 0; first < count(); first += most_outer_rows) {
    const auto rows = written.columns(0, std::min(most_outer_rows, count() - first));
    write_rows(first, rows);
    visit(rows, first);
  }
}

template <class T>
void RowsPart<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count(), 1}, {out.data(), size_, 1});
}

template <class T>
void RowsPart<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  std::ranges::fill(out, T(0));
  for_each_written([&](ConstMatrixView<T> rows, Index first) {
    for (Index r = 0; r < rows.cols; ++r) {
      const T weight = w[static_cast<std::size_t>(first + r)];
      std::ranges::transform(rows.column(r), out, out.begin(),
                             [=](T value, T sum) { return sum + weight * value * value; });
    }
  });
}

template <class T>
void RowsPart<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  if (count() == 0)
    for (Index k = 0; k < out.cols; ++k) std::ranges::fill(out.column(k), T(0));
  for_each_written([&](ConstMatrixView<T> rows, Index first) {
    gemm(Op::none, Op::none, T(1), rows, w.block(first, 0, rows.cols, w.cols), T(first == 0 ? 0 : 1), out);
  });
}

template <class T>
void RowsPart<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  for_each_written([&](ConstMatrixView<T> rows, Index first) {
    gemm(Op::transpose, Op::none, T(1), u, rows, T(0), out.columns(first, rows.cols));
  });
}

template <class T>
void RowsPart<T>::gram(MatrixView<double> out) {
  const Scratch::Frame frame(scratch_);
  const auto rows = scratch_.matrix<T>(size_, count()), product = scratch_.matrix<T>(count(), count());
  write_rows(0, rows);
  syrk(Op::transpose, T(1), ConstMatrixView<T>(rows), T(0), product);
  for (Index j = 0; j < count(); ++j)
    for (Index i = j; i < count(); ++i) out(i, j) = static_cast<double>(product(i, j));
}

template <class T>
void RowsPart<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  for_each_written([&](ConstMatrixView<T> rows, Index first) {
    add_weighted_outer<T>(
        rows, w.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows.cols)), out, scratch_);
  });
}

template <class T>
RowsCost RowsPart<T>::cost() const {
  return DenseRows<T>::cost(size_, count());
}

template class RowsPart<float>;
template class RowsPart<double>;

}  // namespace bdl
