#include "curvature/rows_part.hpp"

#include <algorithm>

#include "curvature/dense_rows.hpp"
#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// In the columns of a matrix.
template <class T>
ConstMatrixView<T> RowsPart<T>::write_rows(Index first, Index count) {
  scratch_.rows.reserve(size_ * count);
  const auto out = scratch_.rows.matrix(size_, count);
  parallel_blocks(count, task_grain(size_), [&](Index begin, Index some) noexcept {
    for (Index r = begin; r < begin + some; ++r) write_row(first + r, 0, out.column(r));
  });
  return out;
}

template <class T>
template <class Visit>
void RowsPart<T>::for_each_written(Visit&& visit) {
  for (Index first = 0; first < count(); first += most_outer_rows)
    visit(write_rows(first, std::min(most_outer_rows, count() - first)), first);
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
  const auto rows = write_rows(0, count());
  scratch_.product.reserve(count() * count());
  const auto product = scratch_.product.matrix(count(), count());
  syrk(Op::transpose, T(1), rows, T(0), product);
  for (Index j = 0; j < count(); ++j)
    for (Index i = j; i < count(); ++i) out(i, j) = static_cast<double>(product(i, j));
}

template <class T>
void RowsPart<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  for_each_written([&](ConstMatrixView<T> rows, Index first) {
    add_weighted_outer<T>(rows,
                          w.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows.cols)),
                          out, scratch_.outer);
  });
}

template <class T>
RowsCost RowsPart<T>::cost() const {
  return DenseRows<T>::cost(size_, count());
}

template <class T>
Rows<T>& RowsParts<T>::of(Rows<T>& rows, Index offset, Index size) {
  const auto found = std::ranges::find_if(
      parts_, [=](const auto& part) { return part->offset() == offset && part->dimension() == size; });
  if (found != parts_.end()) return **found;
  return *parts_.emplace_back(std::make_unique<RowsPart<T>>(rows, offset, size, scratch_));
}

template class RowsPart<float>;
template class RowsPart<double>;
template class RowsParts<float>;
template class RowsParts<double>;

}  // namespace bdl
