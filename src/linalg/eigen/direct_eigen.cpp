#include "linalg/eigen/direct_eigen.hpp"

#include "base/interrupt.hpp"
#include "linalg/blas.hpp"
#include "linalg/dot.hpp"
#include "linalg/eigen/large_reduction.hpp"
#include "linalg/eigen/tridiagonal_pairs.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr Index pivots = 2 * lane_count;  // times n

Index work_size(Index size, Index count) {
  return 9 * lane_padded(size) + 3 * lane_padded(count + 1) + pivots * size;
}

/// The problem in its memory: T, and T scaled to |T| <= 1 with the eigenpairs that are being found.
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

/// A power of two near 1 / size that keeps squares in range; 1 for 0.
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

/// Vectors become columns; false if two that belong to close eigenvalues are not independent.
bool unpack(const TridiagonalPairs& t, MatrixView<double> out) {
  constexpr double close = 1e-3, dependent = 1e-6;
  for (Index k = 0; k < out.cols; ++k) {
    unpack_column(t, k, out);
    double* const own = out.column_data(k);
    bool independent = true;
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index j = k - 1; independent && j >= 0 && t.values[j] - t.values[k] < close; --j) {
        const double* const other = out.column_data(j);
        const double overlap = dot<width()>(other, own, t.size);
        for (Index i = 0; i < t.size; ++i) own[i] -= overlap * other[i];
        independent = std::abs(overlap) <= dependent;
      }
    });
    if (!independent) return false;
    if (t.size >= least_large) check_interrupt();
  }
  return true;
}

/// Vectors become groups as those of largest_pairs().
void pack(ConstMatrixView<double> vectors, double* groups) {
  parallel_blocks(vectors.cols, task_grain(vectors.rows), [&](Index first, Index count) noexcept {
    for (Index k = first; k < first + count; ++k) {
      double* const group = groups + k / lane_count * lane_count * vectors.rows + k % lane_count;
      for (Index i = 0; i < vectors.rows; ++i) group[i * lane_count] = vectors(i, k);
    }
  });
}

/// Of the zero matrix: its eigenvalues are exactly 0, which tells the caller that there is no direction.
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

void DirectEigen::reserve(Index size, Index count) {
  matrix_.reserve(lane_padded(size) * size);
  work_.reserve(work_size(size, count));
  groups_.reserve(lane_padded(count) * size);
  products_.reserve(large_reduction_scratch(size));
  close_.reserve(size);
}

bool DirectEigen::compute(ConstMatrixView<double> a, double* values, MatrixView<double> vectors, Simd simd) {
  const Index size = a.rows, count = vectors.cols;
  reserve(size, count);
  EigenProblem p(size, count, matrix_.data(), groups_.data(), work_.data());
  p.scale = copy_symmetric(a, matrix_.data(), p.form.ld);
  const bool large = size >= least_large;
  if (large) reduce_large_to_tridiagonal(p.form, products_.data(), simd);
  Outcome outcome{};
  with_simd(simd, [&](auto width) BDL_INLINE_LAMBDA { outcome = decompose<lanes_of(width)>(p, large); });
  if (outcome == Outcome::not_finite) return false;
  if (outcome == Outcome::zero) return unit_pairs(values, vectors);
  const Index groups = (count + lane_count - 1) / lane_count;
  bool independent = false;
  if (outcome == Outcome::pairs) {
    apply_reflectors_to_groups(p.form, groups_.data(), groups, simd);
    independent = unpack(p.pairs, vectors);
  }
  if (!independent) {
    if (!largest_tridiagonal_pairs(size, p.diagonal, p.beside, p.pairs.values, vectors, close_)) return false;
    pack(vectors, groups_.data());
    apply_reflectors_to_groups(p.form, groups_.data(), groups, simd);
    for (Index k = 0; k < count; ++k) unpack_column(p.pairs, k, vectors);
  }
  constexpr double nothing = 1e-130;  // what guarded pivots make of zero
  for (Index k = 0; k < count; ++k)
    values[k] = std::abs(p.pairs.values[k]) > nothing ? p.pairs.values[k] / p.scale : 0;
  return true;
}

}  // namespace bdl
