// Maps of several examples, laid out for vectors: 16 examples, a packet, stand next to each other, so that
// every position of every channel is a few whole vectors, whatever the kernel and its stride.
#pragma once

#include <algorithm>

#include "network/shape.hpp"

namespace bdl {

/// Examples of a packet, for all widths of vectors: what is computed does not depend on the width.
inline constexpr Index packet_size = 16;

inline Index packets_of(Index examples) {
  return (examples + packet_size - 1) / packet_size;
}

/// How examples stand in a matrix: one a column, or packet_size of them.
enum class Layout { columns, packets };

/// Number of example i at position p of channel c: (i / 16) packet_numbers() + (c stride + p) 16 + i % 16.
struct PacketMap {
  Shape shape;
  /// Of channels, in positions: odd, since the channels of maps of 2^n positions would meet in a few places
  /// of the cache.
  Index stride() const { return (shape.rows * shape.columns) | 1; }
  Index channel_numbers() const { return stride() * packet_size; }
  Index packet_numbers() const { return shape.channels * channel_numbers(); }
};

/// Numbers of a column.
inline Index column_numbers(Layout layout, const Shape& shape) {
  return layout == Layout::columns ? shape.size() : PacketMap{shape}.packet_numbers();
}
inline Index columns_of(Layout layout, Index examples) {
  return layout == Layout::columns ? examples : packets_of(examples);
}

/// Zeros where a map that was written has no position: whatever reads whole maps meets only numbers.
template <class T>
void clear_gaps(const PacketMap& map, MatrixView<T> out) {
  const Index positions = map.shape.rows * map.shape.columns;
  if (map.stride() == positions) return;
  for (Index packet = 0; packet < out.cols; ++packet)
    for (Index c = 0; c < map.shape.channels; ++c)
      std::fill_n(out.column_data(packet) + (c * map.stride() + positions) * packet_size, packet_size, T(0));
}

/// Zeros where there is neither a position nor an example: sensitivities of what is not there.
template <class T>
void clear_rest(const PacketMap& map, Index examples, MatrixView<T> out) {
  const Index present = examples % packet_size;
  clear_gaps(map, out);
  for (Index p = 0; present > 0 && p < map.shape.channels * map.stride(); ++p)
    std::fill_n(out.column_data(out.cols - 1) + p * packet_size + present, packet_size - present, T(0));
}

}  // namespace bdl
