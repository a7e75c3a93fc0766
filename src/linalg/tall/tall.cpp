#include "linalg/tall/tall.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/blas.hpp"
#include "linalg/tall/tall_blocks.hpp"

namespace bdl {
namespace {

/// Calls visit(columns, distance between them) with the block where it is, or padded in `spare` if its rows
/// are no multiple of what the kernels take.
template <class T, class Visit>
BDL_ALWAYS_INLINE void with_padded(ConstMatrixView<T> block, double* spare, Index ld, const Visit& visit) {
  if (block.rows % row_multiple == 0) {
    prefetch_after(block);
    visit(block.data, block.ld);
  } else {
    load_block(block, nullptr, ld, spare);
    visit(static_cast<const double*>(spare), ld);
  }
}

template <class T>
BDL_ALWAYS_INLINE Index finite_in(const T* values, Index count) {
  using Flag = std::conditional_t<sizeof(T) == sizeof(float), std::int32_t, std::int64_t>;
  Flag finite = 0;
  for (Index i = 0; i < count; ++i)
    finite += std::abs(values[i]) <= std::numeric_limits<T>::max() ? Flag{1} : Flag{0};
  return finite;
}

/// Makes y finish(i, y, element of U C, 1 / d_i or 1 / sqrt(d_i)), block by block.
template <class T, class Finish>
void transform(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> d, Divide divide,
               MatrixView<T> y, Scratch& scratch, const Finish& finish) {
  const Scratch::Frame frame(scratch);
  const TallParts parts({u.rows, u.cols, u.cols, c.cols}, scratch);
  const Index ld = parts.block_rows();
  FiniteCount* const counter = FiniteCount::current();
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index count) noexcept {
    Index finite = 0;
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      load_block(u.block(first, 0, count, u.cols), nullptr, ld, part.u);
      combine<width()>(part.u, u.cols, c.data, c.ld, c.cols, part.x, padded(count, row_multiple), ld);
      fill_scale(some_of(d, first, count), divide, part.scale);
      for (Index j = 0; j < y.cols; ++j) {
        T* to = y.column_data(j) + first;
        const double* product = part.x + j * ld;
        for (Index i = 0; i < count; ++i)
          to[i] = static_cast<T>(finish(first + i, static_cast<double>(to[i]), product[i], part.scale[i]));
        if (counter) finite += finite_in(to, count);
      }
    });
    if (counter) counter->add(finite);
  });
}

BDL_ALWAYS_INLINE void subtract(const double* y, double factor, double* x, Index count) {
  for (Index i = 0; i < count; ++i) x[i] -= factor * y[i];
}
BDL_ALWAYS_INLINE void divide_by(double divisor, double* x, Index count) {
  const double inverse = 1 / divisor;
  for (Index i = 0; i < count; ++i) x[i] *= inverse;
}

/// X = X L^-T: rows become L^-1 times themselves.
BDL_ALWAYS_INLINE void solve_rows(ConstMatrixView<double> lower, MatrixView<double> x) {
  for (Index k = 0; k < x.cols; ++k) {
    for (Index j = 0; j < k; ++j) subtract(x.column_data(j), lower(k, j), x.column_data(k), x.rows);
    divide_by(lower(k, k), x.column_data(k), x.rows);
  }
}

/// X = X L^-1: rows become L^-T times themselves.
BDL_ALWAYS_INLINE void solve_rows_transposed(ConstMatrixView<double> lower, MatrixView<double> x) {
  for (Index k = x.cols - 1; k >= 0; --k) {
    for (Index j = k + 1; j < x.cols; ++j) subtract(x.column_data(j), lower(j, k), x.column_data(k), x.rows);
    divide_by(lower(k, k), x.column_data(k), x.rows);
  }
}

template <class T>
BDL_ALWAYS_INLINE void write_complements(ConstMatrixView<double> x, T* kept) {
  for (Index i = 0; i < x.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < x.cols; ++j) sum += x(i, j) * x(i, j);
    kept[i] = static_cast<T>(1 - sum);
  }
}

}  // namespace

template <class T>
void tall_gram(ConstMatrixView<T> u, ConstSpan<T> divisor, MatrixView<double> gram, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Index cols = u.cols;
  const TallParts parts({u.rows, cols, cols, 0, cols * cols}, scratch);
  const Index ld = parts.block_rows();
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      fill_scale(some_of(divisor, first, count), Divide::by_root_d, part.scale);
      add_gram<width()>(u.block(first, 0, count, cols), divisor.empty() ? nullptr : part.scale, ld, part.u,
                        part.sums);
    });
  });
  parts.add_up(cols, 0, gram);
  mirror_lower(gram);
}

namespace {

template <bool by_column, class T>
void project(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor, Divide divide,
             MatrixView<double> product, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const TallParts parts({u.rows, u.cols, u.cols, x.cols, u.cols * x.cols}, scratch);
  const Index ld = parts.block_rows();
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      fill_scale(some_of(divisor, first, count), divide, part.scale);
      load_block(x.block(first, 0, count, x.cols), divisor.empty() ? nullptr : part.scale, ld, part.x);
      with_padded(u.block(first, 0, count, u.cols), part.u, ld,
                  [&](const auto* from, Index from_ld) BDL_INLINE_LAMBDA {
                    add_dots<width(), by_column>(from, u.cols, from_ld, part.x, x.cols, ld,
                                                 padded(count, row_multiple), false, part.sums, u.cols);
                  });
    });
  });
  parts.add_up(u.cols, 0, product);
}

}  // namespace

template <class T>
void tall_project(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor, Divide divide,
                  MatrixView<double> product, Scratch& scratch) {
  project<false>(u, x, divisor, divide, product, scratch);
}

template <class T>
void tall_project_each(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> divisor, Divide divide,
                       MatrixView<double> product, Scratch& scratch) {
  project<true>(u, x, divisor, divide, product, scratch);
}

/// Float matrices are multiplied in float, twice as fast: nothing cancels here.
template <class T>
void tall_combine(ConstMatrixView<T> u, ConstMatrixView<T> c, bool add, MatrixView<T> y, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const TallParts parts({u.rows, u.cols, u.cols, c.cols}, scratch);
  const Index ld = parts.block_rows();
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index count) noexcept {
    T *block = reinterpret_cast<T*>(part.u), *product = reinterpret_cast<T*>(part.x);
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      load_block(u.block(first, 0, count, u.cols), nullptr, ld, block);
      combine<width()>(block, u.cols, c.data, c.ld, c.cols, product, padded(count, row_multiple), ld);
      for (Index j = 0; j < y.cols; ++j) {
        T* to = y.column_data(j) + first;
        const T* from = product + j * ld;
        for (Index i = 0; i < count; ++i) to[i] = add ? to[i] + from[i] : from[i];
      }
    });
  });
}

template <class T>
void tall_residual(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> d, MatrixView<T> y,
                   Scratch& scratch) {
  transform<T>(u, c, d, Divide::by_d, y, scratch,
               [](Index, double old, double product, double inverse)
                   BDL_INLINE_LAMBDA { return (old - product) * inverse; });
}

template <class T>
void tall_color(ConstMatrixView<T> u, ConstMatrixView<double> c, ConstSpan<T> d, ConstSpan<T> mean,
                MatrixView<T> y, Scratch& scratch) {
  const T* const centre = mean.data();
  transform<T>(u, c, d, Divide::by_root_d, y, scratch,
               [centre](Index i, double old, double product, double root) BDL_INLINE_LAMBDA {
                 return (centre ? static_cast<double>(centre[i]) : 0.0) + (old - product * root) * root;
               });
}

template <class T>
void tall_marginals(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, std::span<T> out,
                    Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const TallParts parts({u.rows, u.cols, u.cols}, scratch);
  const Index ld = parts.block_rows();
  const auto part = parts.part(0);
  for (Index first = 0; first < u.rows; first += ld) {
    const Index count = std::min(ld, u.rows - first);
    const MatrixView<double> block(part.u, count, u.cols, ld);
    fill_scale(some_of(d, first, count), Divide::by_d, part.scale);
    load_block(u.block(first, 0, count, u.cols), part.scale, ld, part.u);
    solve_lower_right(Op::transpose, lower, block);
    for (Index i = 0; i < count; ++i) {
      double norm = 0;
      for (Index j = 0; j < u.cols; ++j) norm += block(i, j) * block(i, j);
      out[static_cast<std::size_t>(first + i)] = static_cast<T>(part.scale[i] - norm);
    }
  }
}

template <class T>
void tall_ridge(ConstMatrixView<T> u, ConstSpan<T> d, ConstMatrixView<double> lower, MatrixView<T> y,
                std::span<T> kept, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const TallParts parts({u.rows, u.cols, u.cols}, scratch);
  const Index ld = parts.block_rows();
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index count) noexcept {
    const MatrixView<double> block(part.u, count, u.cols, ld);
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      fill_scale(some_of(d, first, count), Divide::by_root_d, part.scale);
      load_block(u.block(first, 0, count, u.cols), part.scale, ld, part.u);
      solve_rows(lower, block);
      if (!kept.empty()) write_complements(block, kept.data() + first);
      if (y.cols == 0) return;
      solve_rows_transposed(lower, block);
      for (Index j = 0; j < y.cols; ++j) {
        T* const to = y.column_data(j) + first;
        for (Index i = 0; i < count; ++i) to[i] = static_cast<T>(block(i, j) * part.scale[i]);
      }
    });
  });
}

template <class T>
void add_row_squares(ConstMatrixView<T> u, double factor, std::span<T> sums) {
  if (u.cols == 0) return;
  parallel_blocks(u.rows, most_block_rows * 8, [&](Index begin, Index size) noexcept {
    for (Index first = begin; first < begin + size; first += most_block_rows) {
      const Index count = std::min(most_block_rows, begin + size - first);
      with_simd([&](auto) BDL_INLINE_LAMBDA {
        double squares[most_block_rows];
        for (Index i = 0; i < count; ++i) squares[i] = 0;
        for (Index j = 0; j < u.cols; ++j) {
          const T* column = u.column_data(j) + first;
          prefetch_after(column, count);
          for (Index i = 0; i < count; ++i)
            squares[i] += static_cast<double>(column[i]) * static_cast<double>(column[i]);
        }
        T* to = sums.data() + first;
        for (Index i = 0; i < count; ++i) to[i] += static_cast<T>(factor * squares[i]);
      });
    }
  });
}

#define BDL_INSTANTIATE(T)                                                                              \
  template void tall_gram(ConstMatrixView<T>, ConstSpan<T>, MatrixView<double>, Scratch&);              \
  template void tall_project(ConstMatrixView<T>, ConstMatrixView<T>, ConstSpan<T>, Divide,              \
                             MatrixView<double>, Scratch&);                                             \
  template void tall_project_each(ConstMatrixView<T>, ConstMatrixView<T>, ConstSpan<T>, Divide,         \
                                  MatrixView<double>, Scratch&);                                        \
  template void tall_combine(ConstMatrixView<T>, ConstMatrixView<T>, bool, MatrixView<T>, Scratch&);    \
  template void tall_residual(ConstMatrixView<T>, ConstMatrixView<double>, ConstSpan<T>, MatrixView<T>, \
                              Scratch&);                                                                \
  template void tall_color(ConstMatrixView<T>, ConstMatrixView<double>, ConstSpan<T>, ConstSpan<T>,     \
                           MatrixView<T>, Scratch&);                                                    \
  template void tall_marginals(ConstMatrixView<T>, ConstSpan<T>, ConstMatrixView<double>, std::span<T>, \
                               Scratch&);                                                               \
  template void tall_ridge(ConstMatrixView<T>, ConstSpan<T>, ConstMatrixView<double>, MatrixView<T>,    \
                           std::span<T>, Scratch&);                                                     \
  template void add_row_squares(ConstMatrixView<T>, double, std::span<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
