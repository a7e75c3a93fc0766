// What belongs to single examples, scaled by a number of each: columns, or lanes of packets.
#pragma once

#include "network/packets.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// visit(first number, numbers, weights, how many of them): of columns one weight for all of their numbers;
/// of packets 16, in turn. Weights of absent examples are there, too.
template <class T, class Visit>
void for_each_column(Layout layout, MatrixView<T> m, const T* weights, Visit&& visit) {
  const Index lanes = layout == Layout::columns ? 1 : packet_size;
  parallel_blocks(m.cols, task_grain(m.rows), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index j = first; j < first + count; ++j) visit(j, weights + j * lanes);
    });
  });
}

/// to = w_i from, or to += w_i from, for the numbers of example i.
template <bool add, class T>
void scale_examples(Layout layout, ConstMatrixView<T> from, const T* weights, MatrixView<T> to) {
  for_each_column(layout, to, weights, [=](Index j, const T* w) BDL_INLINE_LAMBDA {
    const T* const in = from.column_data(j);
    T* const out = to.column_data(j);
    if (layout == Layout::columns) {
      const T factor = w[0];
      for (Index i = 0; i < to.rows; ++i) out[i] = (add ? out[i] : T(0)) + factor * in[i];
      return;
    }
    for (Index i = 0; i < to.rows; i += packet_size)
      for (Index lane = 0; lane < packet_size; ++lane)
        out[i + lane] = (add ? out[i + lane] : T(0)) + w[lane] * in[i + lane];
  });
}

/// to = signs from, or to += signs from: a sign for each channel of each example. `run`: numbers of a
/// channel, in a column or in a packet; `signs` in the same layout, for maps of one position.
template <bool add, class T>
void apply_signs(Layout layout, Index run, ConstMatrixView<T> from, ConstMatrixView<T> signs,
                 MatrixView<T> to) {
  const Index lanes = layout == Layout::columns ? 1 : packet_size;
  parallel_blocks(to.cols, task_grain(to.rows), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index j = first; j < first + count; ++j)
        for (Index c = 0; c < signs.rows / lanes; ++c) {
          const T *const sign = signs.column_data(j) + c * lanes, *const in = from.column_data(j) + c * run;
          T* const out = to.column_data(j) + c * run;
          for (Index i = 0; i < run; i += lanes)
            for (Index lane = 0; lane < lanes; ++lane)
              out[i + lane] = (add ? out[i + lane] : T(0)) + sign[lane] * in[i + lane];
        }
    });
  });
}

}  // namespace bdl
