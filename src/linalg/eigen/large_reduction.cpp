#include "linalg/eigen/large_reduction.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr Index task_columns = 64;

/// Column k loses the last reflector's part; its own reflector.
struct ReflectColumn {
  const Tridiagonal& t;
  Index k;
  const double *v, *w;

  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    double* const x = t.s + k * t.ld;
    const double vk = v[k], wk = w[k];
    for (Index i = k / lane_count * lane_count; i < t.ld; i += W)
      vector_at<W>(x + i) -= vector_at<W>(v + i) * wk + vector_at<W>(w + i) * vk;
    t.diagonal[k] = x[k];
    t.beside[k] = make_reflector<W>(x, (k + 1) / lane_count * lane_count, k + 1, t.ld, t.tau[k]);
  }
};

/// Columns begin .. end - 1, product of their own.
struct UpdateColumns {
  const Tridiagonal& t;
  Index begin, end, first;
  const double *v, *w, *x;
  double* product;

  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    constexpr int together = 4;
    std::fill(product + first, product + t.ld, 0.0);
    Index j = begin;
    for (; j + together <= end; j += together)
      update_and_multiply<W, together>(t, j, first, v, w, x, product);
    for (; j < end; ++j) update_and_multiply<W, 1>(t, j, first, v, w, x, product);
  }
};

/// w = tau S v - (tau^2 / 2) (v^T S v) v.
struct CombineProducts {
  const Tridiagonal& t;
  Index k, count;
  double *products, *w;

  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    const double* const x = t.s + k * t.ld;
    const Index first = (k + 1) / lane_count * lane_count;
    for (Index p = 1; p < count; ++p)
      for (Index i = first; i < t.ld; i += W)
        vector_at<W>(products + i) += vector_at<W>(products + p * t.ld + i);
    for (Index i = first; i <= k; ++i) products[i] = 0;
    const double tau = t.tau[k],
                 shift = tau * tau / 2 * aligned_dot<W>(products + first, x + first, t.ld - first);
    for (Index i = first; i < t.ld; i += W)
      vector_at<W>(w + i) = tau * vector_at<W>(products + i) - shift * vector_at<W>(x + i);
  }
};

struct ApplyGroup {
  const Tridiagonal& t;
  Index begin, end;
  double* group;
  template <int W>
  BDL_ALWAYS_INLINE void run() const {
    apply_reflectors<W>(t, begin, end, group);
  }
};

Index tasks_of(Index columns) {
  return (columns + task_columns - 1) / task_columns;
}

}  // namespace

Index large_reduction_scratch(Index size) {
  return size < least_large ? 0 : tasks_of(size) * lane_padded(size);
}

void reduce_large_to_tridiagonal(const Tridiagonal& t, double* scratch, Simd simd) {
  const Index n = t.size;
  double *w = t.vectors, *zero = t.vectors + 2 * t.ld;
  std::fill_n(w, t.ld, 0.0);
  std::fill_n(zero, t.ld, 0.0);
  const double* v = zero;
  for (Index k = 0; k + 1 < n; ++k) {
    check_interrupt();
    run_in_lanes(simd, ReflectColumn{t, k, v, w});
    const double* const x = t.s + k * t.ld;
    const Index first = (k + 1) / lane_count * lane_count, columns = n - k - 1, tasks = tasks_of(columns);
    parallel_for(tasks, [&](Index task) noexcept {
      const Index begin = k + 1 + task * task_columns;
      run_in_lanes(simd, UpdateColumns{t, begin, std::min(begin + task_columns, n), first, v, w, x,
                                       scratch + task * t.ld});
    });
    run_in_lanes(simd, CombineProducts{t, k, tasks, scratch, w});
    v = x;
  }
  t.diagonal[n - 1] = t.s[(n - 1) * t.ld + n - 1];
}

void apply_reflectors_to_groups(const Tridiagonal& t, double* groups, Index count, Simd simd) {
  constexpr Index together = 256;  // between questions
  const Index all = t.size - 1, step = t.size < least_large ? std::max<Index>(all, 1) : together;
  for (Index end = all; end > 0; end -= step) {
    const Index begin = std::max<Index>(0, end - step);
    auto apply = [&](Index group) noexcept {
      run_in_lanes(simd, ApplyGroup{t, begin, end, groups + group * lane_count * t.size});
    };
    if (t.size >= least_large)
      parallel_for(count, apply);
    else
      for (Index group = 0; group < count; ++group) apply(group);
  }
}

}  // namespace bdl
