#include <algorithm>

#include "linalg/eigen/householder.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
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
