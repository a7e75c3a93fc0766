#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/blas.hpp"
#include "linalg/dot.hpp"
#include "linalg/eigen/eigenpairs.hpp"
#include "linalg/eigen/householder.hpp"
#include "linalg/eigen/tridiagonal_pairs.hpp"
#include "linalg/lapack.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr Index pivots = 2 * lane_count;  // times n

Index work_size(Index size, Index count) {
  return 9 * lane_padded(size) + 3 * lane_padded(count + 1) + pivots * size;
}

/// A problem in its memory: T, and T scaled to |T| <= 1 with the eigenpairs that are being found.
struct EigenProblem {
  Tridiagonal form;
  TridiagonalPairs pairs;
  double *diagonal, *beside, *squares, *work;
  double scale = 1;
  bool zero = false;

  EigenProblem(Index size, Index count, double* matrix, double* groups, double* memory) {
    const auto next = [&](Index length) { return std::exchange(memory, memory + lane_padded(length)); };
    form = {size, lane_padded(size), matrix, next(size), next(size), next(size), next(3 * lane_padded(size))};
    diagonal = next(size), beside = next(size), squares = next(size);
    double *low = next(count + 1), *high = next(count + 1), *values = next(count + 1);
    work = memory;
    pairs = {size, count, diagonal, beside, squares, low, high, values, groups, work};
  }
};

/// Returns a power of two near 1 / size that keeps squares in range; 1 for 0.
double inverse_scale(double size) {
  return size > 0 && std::isfinite(size) ? std::ldexp(1.0, std::clamp(-std::ilogb(size), -1000, 1000)) : 1;
}

double copy_symmetric(ConstMatrixView<double> a, double* s, Index ld) {
  double top = 0;
  for (Index i = 0; i < a.rows; ++i) top = std::max(top, std::abs(a(i, i)));
  const double scale = inverse_scale(top);
  for (Index j = 0; j < a.cols; ++j) {
    for (Index i = j; i < a.rows; ++i) s[i + j * ld] = scale * a(i, j);
    for (Index i = a.rows; i < ld; ++i) s[i + j * ld] = 0;
  }
  mirror_lower(MatrixView<double>{s, a.rows, a.cols, ld});
  return scale;
}

/// Scales T to |T| <= 1; false if T is not finite, as happens when A is not.
bool scale_tridiagonal(EigenProblem& p) {
  const Tridiagonal& t = p.form;
  double sum = 0, bound = 0, before = 0;
  for (Index i = 0; i < t.size; ++i) {
    const double after = i + 1 < t.size ? std::abs(t.beside[i]) : 0;
    const double row = before + std::abs(t.diagonal[i]) + after;
    sum += row;
    bound = std::max(bound, row);
    before = after;
  }
  if (!std::isfinite(sum)) return false;
  const double scale = inverse_scale(bound) / 2;
  p.zero = sum == 0;
  constexpr double tiny = 1e-290;  // no pivot of a Sturm count is 0 / 0
  for (Index i = 0; i < t.size; ++i) p.diagonal[i] = scale * t.diagonal[i];
  for (Index i = 0; i + 1 < t.size; ++i) {
    p.beside[i] = scale * t.beside[i];
    p.squares[i] = std::max(p.beside[i] * p.beside[i], tiny);
  }
  p.scale *= scale;
  return true;
}

void unpack_column(const TridiagonalPairs& t, Index k, MatrixView<double> out) {
  const double* group = t.vectors + k / lane_count * lane_count * t.size + k % lane_count;
  for (Index i = 0; i < t.size; ++i) out(i, k) = group[i * lane_count];
}

/// Writes vectors as columns; false if two that belong to close eigenvalues are not independent.
bool unpack(const TridiagonalPairs& t, MatrixView<double> out) {
  constexpr double close = 1e-3, dependent = 1e-6;
  for (Index k = 0; k < out.cols; ++k) {
    unpack_column(t, k, out);
    double* const column = out.column_data(k);
    bool independent = true;
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index j = k - 1; independent && j >= 0 && t.values[j] - t.values[k] < close; --j) {
        const double* const other = out.column_data(j);
        const double overlap = dot<width()>(other, column, t.size);
        for (Index i = 0; i < t.size; ++i) column[i] -= overlap * other[i];
        independent = std::abs(overlap) <= dependent;
      }
    });
    if (!independent) return false;
  }
  return true;
}

/// Stores vectors in groups as largest_pairs() does.
void pack(ConstMatrixView<double> vectors, double* groups) {
  parallel_blocks(vectors.cols, task_grain(vectors.rows), [&](Index first, Index count) noexcept {
    for (Index k = first; k < first + count; ++k) {
      double* const group = groups + k / lane_count * lane_count * vectors.rows + k % lane_count;
      for (Index i = 0; i < vectors.rows; ++i) group[i * lane_count] = vectors(i, k);
    }
  });
}

/// Writes the pairs of the zero matrix: eigenvalues of exactly 0 tell the caller that there is no direction.
bool unit_pairs(double* values, MatrixView<double> vectors) {
  for (Index k = 0; k < vectors.cols; ++k) {
    values[k] = 0;
    for (Index i = 0; i < vectors.rows; ++i) vectors(i, k) = i == k ? 1 : 0;
  }
  return true;
}

enum class Outcome { pairs, too_close, zero, not_finite };

template <int W>
BDL_ALWAYS_INLINE Outcome decompose(EigenProblem& p, bool is_reduced) {
  if (!is_reduced) reduce_to_tridiagonal<W>(p.form);
  if (!scale_tridiagonal(p)) return Outcome::not_finite;
  if (p.zero) return Outcome::zero;
  return largest_pairs<W>(p.pairs) ? Outcome::pairs : Outcome::too_close;
}

}  // namespace

Index largest_eigenpairs_numbers(Index size, Index count) {
  constexpr Index rounding = 4 * 8;
  return (lane_padded(size) + lane_padded(count)) * size + large_reduction_scratch(size) +
         work_size(size, count) + tridiagonal_numbers * size + rounding;
}

bool largest_eigenpairs(ConstMatrixView<double> a, double* values, MatrixView<double> vectors,
                        Scratch& scratch, Simd simd) {
  const Index size = a.rows, count = vectors.cols;
  const Scratch::Frame frame(scratch);
  double* const matrix = scratch.take<double>(lane_padded(size) * size).data();
  double* const group_memory = scratch.take<double>(lane_padded(count) * size).data();
  double* const products = scratch.take<double>(large_reduction_scratch(size)).data();
  EigenProblem p(size, count, matrix, group_memory, scratch.take<double>(work_size(size, count)).data());
  {
    const Scratch::Frame if_close(scratch);  // eigenvalues: memory that each call takes, or a later one would
    scratch.take<double>(tridiagonal_numbers * size);
  }
  p.scale = copy_symmetric(a, matrix, p.form.ld);
  const bool large = size >= least_large;
  if (large) reduce_large_to_tridiagonal(p.form, products, simd);
  Outcome outcome{};
  with_simd(simd, [&](auto width) BDL_INLINE_LAMBDA { outcome = decompose<lanes_of(width)>(p, large); });
  if (outcome == Outcome::not_finite) return false;
  if (outcome == Outcome::zero) return unit_pairs(values, vectors);
  const Index groups = (count + lane_count - 1) / lane_count;
  bool independent = false;
  if (outcome == Outcome::pairs) {
    apply_reflectors_to_groups(p.form, group_memory, groups, simd);
    independent = unpack(p.pairs, vectors);
  }
  if (!independent) {
    if (!largest_tridiagonal_pairs(size, p.diagonal, p.beside, p.pairs.values, vectors, scratch))
      return false;
    pack(vectors, group_memory);
    apply_reflectors_to_groups(p.form, group_memory, groups, simd);
    for (Index k = 0; k < count; ++k) unpack_column(p.pairs, k, vectors);
  }
  constexpr double nothing = 1e-130;  // what guarded pivots make of zero
  for (Index k = 0; k < count; ++k)
    values[k] = std::abs(p.pairs.values[k]) > nothing ? p.pairs.values[k] / p.scale : 0;
  return true;
}

/// Q diag(lambda)^1/2 Q^T = (Q diag(lambda)^1/4) (Q diag(lambda)^1/4)^T.
bool symmetric_root(ConstMatrixView<double> a, double negligible, MatrixView<double> root, Scratch& scratch) {
  const Index size = a.rows;
  if (size == 1) {
    root(0, 0) = a(0, 0) > 0 ? std::sqrt(a(0, 0)) : 0;
    return std::isfinite(a(0, 0));
  }
  const Scratch::Frame frame(scratch);
  const auto vectors = scratch.matrix<double>(size, size), scaled = scratch.matrix<double>(size, size);
  double* const values = scratch.take<double>(size).data();
  if (!largest_eigenpairs(a, values, vectors, scratch)) return false;
  for (Index k = 0; k < size; ++k) {
    const bool counts = values[k] > 0 && values[k] >= negligible * values[0];
    const double factor = counts ? std::sqrt(std::sqrt(values[k])) : 0;
    for (Index i = 0; i < size; ++i) scaled(i, k) = factor * vectors(i, k);
  }
  syrk(Op::none, 1.0, scaled, 0.0, root);
  mirror_lower(root);
  return true;
}

namespace {

constexpr Index task_columns = 64;

Index tasks_of(Index columns) {
  return (columns + task_columns - 1) / task_columns;
}

}  // namespace

Index large_reduction_scratch(Index size) {
  return size < least_large ? 0 : tasks_of(size) * lane_padded(size);
}

void reduce_large_to_tridiagonal(const Tridiagonal& t, double* products, Simd simd) {
  reduce_columns(
      t,
      [&](Index k, const double* v, const double* w) {
        with_simd(simd, [&](auto width) BDL_INLINE_LAMBDA { reflect_column<lanes_of(width)>(t, k, v, w); });
      },
      [&](Index k, Index first, const double* v, double* w, const double* x) {
        const Index tasks = tasks_of(t.size - k - 1);
        parallel_for(tasks, [&](Index task) noexcept {
          const Index begin = k + 1 + task * task_columns, end = std::min(begin + task_columns, t.size);
          with_simd(simd, [&](auto width) BDL_INLINE_LAMBDA {
            update_columns<lanes_of(width)>(t, begin, end, first, v, w, x, products + task * t.ld);
          });
        });
        with_simd(simd, [&](auto width) BDL_INLINE_LAMBDA {
          combine_products<lanes_of(width)>(t, k, products, tasks, w);
        });
      });
}

void apply_reflectors_to_groups(const Tridiagonal& t, double* groups, Index count, Simd simd) {
  constexpr Index together =
      256;  // reflectors of a parallel loop, before each of which an interrupt is asked
  const Index all = t.size - 1, step = t.size < least_large ? std::max<Index>(all, 1) : together;
  for (Index end = all; end > 0; end -= step) {
    const Index begin = std::max<Index>(0, end - step);
    auto apply = [&](Index group) noexcept {
      with_simd(simd, [&](auto width) BDL_INLINE_LAMBDA {
        apply_reflectors<lanes_of(width)>(t, begin, end, groups + group * lane_count * t.size);
      });
    };
    if (t.size >= least_large)
      parallel_for(count, apply);
    else
      for (Index group = 0; group < count; ++group) apply(group);
  }
}

}  // namespace bdl
