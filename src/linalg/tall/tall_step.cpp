#include "linalg/tall/tall_step.hpp"

#include "linalg/blas.hpp"
#include "linalg/tall/tall_blocks.hpp"

namespace bdl {
namespace {

/// Copies the block's columns side by side, scaled, and divided by the roots of d where those are given.
template <class T>
BDL_ALWAYS_INLINE void load_columns(const TallColumns<T>& a, Index first, Index count, const double* roots,
                                    Index ld, double* out) {
  for (const auto& part : a.parts)
    for (Index j = 0; j < part.columns.cols; ++j, out += ld) {
      const T* from = part.columns.column_data(j) + first;
      if (!roots) prefetch_after(from, count);
      for (Index i = 0; i < count; ++i)
        out[i] = part.scale * static_cast<double>(from[i]) * (roots ? roots[i] : 1.0);
      for (Index i = count; i < padded(count, row_multiple); ++i) out[i] = 0;
    }
}

/// Asks for the next block's run, as prefetch_after does, where it is to be written.
template <class T>
BDL_ALWAYS_INLINE void prefetch_writes_after(const T* run, Index count) {
  for (Index i = 0; i < count; i += 64 / static_cast<Index>(sizeof(T)))
    __builtin_prefetch(run + count + i, 1);
}

/// sums += factor rowsums(A^2).
BDL_ALWAYS_INLINE void add_squares(const double* a, Index columns, Index count, Index ld, double factor,
                                   double* sums) {
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < count; ++i) sums[i] += factor * a[i + j * ld] * a[i + j * ld];
}

}  // namespace

template <class T>
void tall_grams(const TallColumns<T>& a, ConstSpan<T> d, ConstSpan<T> m, MatrixView<double> gram,
                MatrixView<double> weighted, std::span<double> projected, Scratch& scratch) {
  const Index cols = a.cols(), both = cols + 1, size = cols * cols + both * both;
  const Scratch::Frame frame(scratch);
  const TallParts parts({a.rows(), cols + both, cols + both, 0, size}, scratch);
  const Index ld = parts.block_rows();
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      const Index rows = padded(count, row_multiple);
      double* const divided = part.u + cols * ld;
      const TallColumns<T> slope{{{{m.data(), a.rows(), 1}, 1.0}, {}, {}}};
      fill_scale(some_of(d, first, count), Divide::by_root_d, part.scale);
      load_columns(a, first, count, nullptr, ld, part.u);
      load_columns(a, first, count, part.scale, ld, divided);
      load_columns(slope, first, count, part.scale, ld, divided + cols * ld);
      add_dots<width()>(part.u, cols, ld, part.u, cols, ld, rows, true, part.sums, cols);
      add_dots<width()>(divided, both, ld, divided, both, ld, rows, true, part.sums + cols * cols, both);
    });
  });
  for (Index j = 0; j < cols; ++j) std::ranges::fill(weighted.column(j), 0.0);
  for (Index j = 0; j < cols; ++j) std::ranges::fill(gram.column(j), 0.0);
  std::ranges::fill(projected, 0.0);
  for (Index number = 0; number < part_count(a.rows()); ++number) {
    const double *plain = parts.part(number).sums, *divided = plain + cols * cols;
    for (Index j = 0; j < cols; ++j) {
      for (Index i = j; i < cols; ++i) gram(i, j) += plain[i + j * cols];
      for (Index i = j; i < cols; ++i) weighted(i, j) += divided[i + j * both];
      projected[static_cast<std::size_t>(j)] += divided[cols + j * both];
    }
  }
}

template <class T>
void tall_cross(ConstMatrixView<T> u, ConstMatrixView<T> x, ConstSpan<T> d, ConstSpan<T> m,
                MatrixView<double> plain, MatrixView<double> divided, Scratch& scratch) {
  const Index rank = u.cols, count = x.cols, cols = rank + count, others = 2 * count + 1;
  const Scratch::Frame frame(scratch);
  const TallParts parts({u.rows, cols, cols, others, cols * others}, scratch);
  const Index ld = parts.block_rows();
  const TallColumns<T> a{{{u, 1.0}, {{nullptr, u.rows, 0}, 1.0}, {x, 1.0}}},
      slope{{{{m.data(), u.rows, 1}, 1.0}, {}, {}}}, fresh{{{x, 1.0}, {}, {}}};
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index rows) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index i = 0; i < rows; ++i)
        part.scale[i] = 1 / static_cast<double>(d[static_cast<std::size_t>(first + i)]);
      load_columns(a, first, rows, nullptr, ld, part.u);
      load_columns(fresh, first, rows, nullptr, ld, part.x);
      load_columns(fresh, first, rows, part.scale, ld, part.x + count * ld);
      load_columns(slope, first, rows, part.scale, ld, part.x + 2 * count * ld);
      add_dots<width()>(part.u, cols, ld, part.x, others, ld, padded(rows, row_multiple), false, part.sums,
                        cols);
    });
  });
  for (Index j = 0; j < others; ++j) {
    const auto column = j < count ? plain.column(j) : divided.column(j - count);
    std::ranges::fill(column, 0.0);
    for (Index number = 0; number < part_count(u.rows); ++number)
      for (Index i = 0; i < cols; ++i)
        column[static_cast<std::size_t>(i)] += parts.part(number).sums[i + j * cols];
  }
}

/// Adds what is lost to d, and writes the mean's step with the old d.
template <class T>
BDL_ALWAYS_INLINE void correct_rows(const double* lost, const double* combined, const T* m, Index count, T* d,
                                    T* step) {
  for (Index i = 0; i < count; ++i) {
    const double old = static_cast<double>(d[i]);
    step[i] = static_cast<T>((static_cast<double>(m[i]) - combined[i]) / old);
    d[i] = static_cast<T>(old + std::max(lost[i], 0.0));
  }
}

/// Writes u = T(value(i)), and in `held` what u then is, as load_block would load it.
template <class T, class Value>
BDL_ALWAYS_INLINE void store_column(Index count, T* u, double* held, const Value& value) {
  prefetch_writes_after(u, count);
  for (Index i = 0; i < count; ++i) {
    u[i] = static_cast<T>(value(i));
    held[i] = static_cast<double>(u[i]);
  }
}

/// Calls make(part, ld, first row, rows, width), which writes U, also into the part's u, and d, for each
/// block of rows. Their Gram matrices are taken while they are in the cache, as tall_gram would take them.
template <class T, class Make>
void update_blocks(Index columns, const TallUpdate<T>& to, Scratch& scratch, const Make& make) {
  const Index rows = to.u.rows, rank = to.u.cols;
  const Scratch::Frame frame(scratch);
  const TallParts parts({rows, rank, columns, rank + 1, 2 * rank * rank}, scratch);
  const Index ld = parts.block_rows();
  parts.for_blocks([&](const TallParts::Part& part, Index first, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      make(part, ld, first, count, width);
      const Index padded_rows = padded(count, row_multiple);
      add_dots<width()>(part.u, rank, ld, part.u, rank, ld, padded_rows, true, part.sums, rank);
      fill_scale(some_of(ConstSpan<T>(to.d), first, count), Divide::by_root_d, part.scale);
      for (Index k = 0; k < rank; ++k)
        for (Index i = 0; i < count; ++i) part.u[i + k * ld] *= part.scale[i];
      add_dots<width()>(part.u, rank, ld, part.u, rank, ld, padded_rows, true, part.sums + rank * rank, rank);
    });
  });
  parts.add_up(rank, 0, to.gram);
  parts.add_up(rank, rank * rank, to.weighted);
  mirror_lower(to.gram);
  mirror_lower(to.weighted);
}

template <class T>
void tall_rotate(const TallColumns<T>& a, ConstMatrixView<double> c, const TallUpdate<T>& to,
                 Scratch& scratch) {
  const Index cols = a.cols(), rank = to.u.cols;
  update_blocks(
      cols, to, scratch,
      [&](const TallParts::Part& part, Index ld, Index first, Index count, auto width) BDL_INLINE_LAMBDA {
        load_columns(a, first, count, nullptr, ld, part.u);
        combine<width()>(part.u, cols, c.data, c.ld, c.cols, part.x, padded(count, row_multiple), ld);
        std::fill_n(part.scale, count, 0.0);
        add_squares(part.u, cols, count, ld, 1, part.scale);
        add_squares(part.x, rank, count, ld, -1, part.scale);
        correct_rows(part.scale, part.x + rank * ld, to.m.data() + first, count, to.d.data() + first,
                     to.step.data() + first);
        for (Index k = 0; k < rank; ++k)
          store_column(count, to.u.column_data(k) + first, part.u + k * ld,
                       [from = part.x + k * ld](Index i) BDL_INLINE_LAMBDA { return from[i]; });
      });
}

/// H = I - 2 v v^T / v^T v with v = q + sign(q_m) e_m, so that A H = A - (A v) (2 / v^T v) v^T; its last
/// column is -+A q = -+(A v - sign(q_m) a_m).
template <class T>
void tall_drop(const TallColumns<T>& a, ConstSpan<double> q, ConstSpan<double> c, const TallUpdate<T>& to,
               Scratch& scratch) {
  const Index cols = a.cols(), rank = to.u.cols, last = cols - 1;
  const double sign = q[static_cast<std::size_t>(last)] < 0 ? -1 : 1;
  double both[2 * most_dropping_columns];  // v and c
  std::ranges::copy(q, both);
  std::ranges::copy(c, both + cols);
  both[last] += sign;
  const double factor = 1 / (1 + std::abs(q[static_cast<std::size_t>(last)]));
  update_blocks(
      cols, to, scratch,
      [&](const TallParts::Part& part, Index ld, Index first, Index count, auto width) BDL_INLINE_LAMBDA {
        double *const av = part.x, *const ac = part.x + ld;
        load_columns(a, first, count, nullptr, ld, part.u);
        combine<width()>(part.u, cols, both, cols, 2, part.x, padded(count, row_multiple), ld);
        const double* const a_m = part.u + last * ld;
        for (Index i = 0; i < count; ++i) {
          const double dropped = av[i] - sign * a_m[i];
          part.scale[i] = dropped * dropped;
          av[i] *= factor;
        }
        correct_rows(part.scale, ac, to.m.data() + first, count, to.d.data() + first, to.step.data() + first);
        for (Index k = 0; k < rank; ++k)
          store_column(count, to.u.column_data(k) + first, part.u + k * ld,
                       [from = part.u + k * ld, v = both[k], av](Index i)
                           BDL_INLINE_LAMBDA { return from[i] - v * av[i]; });
      });
}

#define BDL_INSTANTIATE(T)                                                                                   \
  template void tall_grams(const TallColumns<T>&, ConstSpan<T>, ConstSpan<T>, MatrixView<double>,            \
                           MatrixView<double>, std::span<double>, Scratch&);                                 \
  template void tall_cross(ConstMatrixView<T>, ConstMatrixView<T>, ConstSpan<T>, ConstSpan<T>,               \
                           MatrixView<double>, MatrixView<double>, Scratch&);                                \
  template void tall_rotate(const TallColumns<T>&, ConstMatrixView<double>, const TallUpdate<T>&, Scratch&); \
  template void tall_drop(const TallColumns<T>&, ConstSpan<double>, ConstSpan<double>, const TallUpdate<T>&, \
                          Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
