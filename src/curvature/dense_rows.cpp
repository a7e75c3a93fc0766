#include "curvature/dense_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr Index most_tall = 64;

}  // namespace

template <class T>
MatrixView<T> DenseRows<T>::resize(Index dimension, Index count) {
  check_row_count(static_cast<double>(count));
  const MatrixView<T> rows = rows_.matrix(dimension, count);
  view(rows);
  return rows;
}

template <class T>
void DenseRows<T>::view(ConstMatrixView<T> rows) {
  check_row_count(static_cast<double>(rows.cols));
  matrix_ = rows;
}

template <class T>
void DenseRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count(), 1}, {out.data(), dimension(), 1});
}

template <class T>
void DenseRows<T>::sum_part(Index part, Index parts, ConstSpan<T> c, std::span<T> out) {
  const Index size = count() / parts, first = part * size;
  combine(matrix_.columns(first, size), {c.data() + first, size, 1}, {out.data(), dimension(), 1});
}

template <class T>
void DenseRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  parallel_blocks(dimension(), 1 << 12, [&](Index first, Index size) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      T* to = out.data() + first;
      for (Index i = 0; i < size; ++i) to[i] = 0;
      for (Index r = 0; r < matrix_.cols; ++r) {
        const T* row = matrix_.column_data(r) + first;
        const T weight = w[static_cast<std::size_t>(r)];
        for (Index i = 0; i < size; ++i) to[i] += weight * row[i] * row[i];
      }
    });
  });
}

/// True if there are so few rows and vectors that one pass at the speed of memory is faster than BLAS.
template <class T>
bool DenseRows<T>::are_few(Index count, Index others) {
  return count <= most_tall && others <= most_tall;
}

template <class T>
void DenseRows<T>::gram(MatrixView<double> out) {
  if (are_few(count(), 0)) return tall_gram<T>(matrix_, {}, out, scratch_);
  const auto product = product_.matrix(count(), count());
  syrk(Op::transpose, T(1), matrix_, T(0), product);
  for (Index j = 0; j < count(); ++j)
    for (Index i = j; i < count(); ++i) out(i, j) = static_cast<double>(product(i, j));
}

template <class T>
void DenseRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  if (!are_few(count(), u.cols)) return gemm(Op::transpose, Op::none, T(1), u, matrix_, T(0), out);
  const auto product = projected_.matrix(u.cols, count());
  tall_project<T>(u, matrix_, {}, Divide::by_d, product, scratch_);
  for (Index r = 0; r < count(); ++r)
    for (Index k = 0; k < u.cols; ++k) out(k, r) = static_cast<T>(product(k, r));
}

template <class T>
void DenseRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  combine(matrix_, w, out);
}

template <class T>
void DenseRows<T>::combine(ConstMatrixView<T> rows, ConstMatrixView<T> w, MatrixView<T> out) {
  if (are_few(count(), w.cols)) return tall_combine<T>(rows, w, false, out, scratch_);
  gemm(Op::none, Op::none, T(1), rows, w, T(0), out);
}

template <class T>
void DenseRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  add_weighted_outer(matrix_, w, out, scratch_numbers_);
}

template <class T>
void DenseRows<T>::write_gradient(ConstSpan<T> z, Index j, Index n, std::span<T> out) const {
  std::ranges::fill(out, T(0));
  for (Index r = j; r < count(); r += n) {
    const T* row = matrix_.column_data(r);
    const T factor = z[static_cast<std::size_t>(r)];
    for (std::size_t p = 0; p < out.size(); ++p) out[p] += factor * row[p];
  }
}

template <class T>
void DenseRows<T>::gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) {
  const auto gradient = gradient_.first(dimension());
  for (std::size_t j = 0; j < out.size(); ++j) {
    write_gradient(z, static_cast<Index>(j), static_cast<Index>(out.size()), gradient);
    out[j] = 0;
    for (std::size_t p = 0; p < gradient.size(); ++p)
      out[j] += static_cast<double>(v[p] * gradient[p]) * static_cast<double>(gradient[p]);
  }
}

template <class T>
ExampleRows<T>& DenseRows<T>::gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) {
  if (!gradients_) gradients_ = std::make_unique<DenseRows>();
  const auto columns = gradients_->resize(dimension(), static_cast<Index>(which.size()));
  for (Index m = 0; m < columns.cols; ++m)
    write_gradient(z, which[static_cast<std::size_t>(m)], n, columns.column(m));
  return *gradients_;
}

template <class T>
Rows<T>& DenseRows<T>::part(Index offset, Index size) {
  auto found = std::ranges::find(parts_, offset, [](const auto& part) { return part.first; });
  if (found == parts_.end()) found = parts_.insert(found, {offset, std::make_unique<DenseRows>()});
  found->second->view(matrix_.block(offset, 0, size, count()));
  return *found->second;
}

template <class T>
RowsCost DenseRows<T>::cost(Index dimension, Index count) {
  const auto n = static_cast<double>(count), d = static_cast<double>(dimension);
  return {count, n * n * d, 2 * n * d};
}

template <class T>
void take_rows(const Array& array, DenseRows<T>& rows) {
  if (const ConstMatrixView<T> there = in_place<T>(array); there.data)
    rows.view(there);
  else
    gather(array, 0, rows.resize(array.cols, array.rows));
}

/// Writes columns sqrt|w_r| b_r, those with w_r > 0 from the left and the others from the right, and adds
/// the products of the former and subtracts those of the latter.
template <class T>
void add_weighted_outer(ConstMatrixView<T> columns, ConstSpan<T> w, MatrixView<double> out,
                        Scratch& scratch) {
  const Index most = std::min(most_outer_rows, columns.cols);
  const Scratch::Frame frame(scratch);
  const auto block = scratch.matrix<double>(columns.rows, most);
  for (Index first = 0; first < columns.cols; first += most) {
    const Index count = std::min(most, columns.cols - first);
    const auto scaled = block.columns(0, count);
    Index added = 0, rest = count;
    for (Index r = first; r < first + count; ++r) {
      const auto weight = static_cast<double>(w[static_cast<std::size_t>(r)]);
      const double root = std::sqrt(std::abs(weight));
      std::ranges::transform(columns.column(r), scaled.column_data(weight > 0 ? added++ : --rest),
                             [=](T value) { return root * static_cast<double>(value); });
    }
    syrk(Op::none, 1.0, scaled.columns(0, added), 1.0, out);
    syrk(Op::none, -1.0, scaled.columns(rest, count - rest), 1.0, out);
  }
}

#define BDL_INSTANTIATE(T)                              \
  template class DenseRows<T>;                          \
  template void take_rows(const Array&, DenseRows<T>&); \
  template void add_weighted_outer(ConstMatrixView<T>, ConstSpan<T>, MatrixView<double>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
