// Where the numbers of a channel stand: in runs without a gap, as long as the layout allows.
#pragma once

#include "base/simd.hpp"
#include "network/shape.hpp"

namespace bdl {

/// Of examples in columns, each in the order (channel, row, column): run i is example i's.
struct ChannelRuns {
  Index positions;  ///< of a channel
  Index count;      ///< of runs

  ChannelRuns(const Shape& shape, Index examples) : positions(shape.rows * shape.columns), count(examples) {}
  template <class View>
  BDL_ALWAYS_INLINE auto* begin(const View& columns, Index channel, Index run) const {
    return columns.column_data(run) + channel * positions;
  }
  Index length(Index) const { return positions; }
  /// Numbers of a channel.
  Index values() const { return positions * count; }
};

/// The sum over k < count of term(k), in an order that suits vectors.
template <class Term>
BDL_ALWAYS_INLINE double sum_of(Index count, Term&& term) {
  constexpr Index lanes = 8;
  double sums[lanes] = {}, sum = 0;
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] += term(k + lane);
  for (; k < count; ++k) sum += term(k);
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace bdl
