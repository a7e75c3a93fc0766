// Where the numbers of a channel stand: in runs without a gap, as long as the layout allows.
#pragma once

#include "base/simd.hpp"
#include "network/packets.hpp"

namespace bdl {

/// Of examples in columns: run i is example i's. Of packets: a run a full packet, and a run a position of the
/// last one, if it has fewer examples.
struct ChannelRuns {
  Index positions;  ///< of a channel
  Index examples;
  bool is_packed;
  Index count;  ///< of runs
  Index full = 0, rest = 0, channel_numbers = 0;

  /// Of maps whose columns have so many numbers.
  ChannelRuns(const Shape& shape, Index of, Index column_numbers)
      : positions(shape.rows * shape.columns),
        examples(of),
        is_packed(column_numbers != shape.size()),
        count(of) {
    channel_numbers = is_packed ? PacketMap{shape}.channel_numbers() : positions;
    if (!is_packed) return;
    full = of / packet_size;
    rest = of % packet_size;
    count = full + (rest > 0 ? positions : 0);
  }
  template <class View>
  BDL_ALWAYS_INLINE auto* begin(const View& columns, Index channel, Index run) const {
    auto* const of_channel =
        columns.column_data(is_packed ? std::min(run, full) : run) + channel * channel_numbers;
    return is_packed && run > full ? of_channel + (run - full) * packet_size : of_channel;
  }
  Index length(Index run) const {
    if (!is_packed) return positions;
    return run < full ? positions * packet_size : rest;
  }
  /// Numbers of a channel.
  Index values() const { return positions * examples; }
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
