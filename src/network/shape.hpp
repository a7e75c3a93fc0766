// The numbers that flow between layers: maps of channels x rows x columns, with one example in each column of
// a matrix, or 16 in a packet. Also the places of a layer's parameters in theta.
#pragma once

#include <algorithm>
#include <string>

#include "base/view.hpp"

namespace bdl {

/// Index of a container of the standard library.
constexpr std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Shape {
  Index channels = 1, rows = 1, columns = 1;
  Index size() const { return channels * rows * columns; }
  bool is_image() const { return rows != 1 || columns != 1; }
  bool operator==(const Shape&) const = default;
};

/// Returns "13" or "3 x 32 x 32".
std::string shape_text(const Shape& shape);

/// `size` parameters from number `offset` on.
struct ParameterRange {
  Index offset, size;
  bool operator==(const ParameterRange&) const = default;
};

/// A named matrix within theta: rows x cols, row-major, from number `offset` on.
struct ParameterBlock {
  std::string name;
  Index offset, rows, cols;
  Index layer;
  bool is_bias;
  Index fan_in = 1;  ///< inputs of the layer; 1 where there are no layers
  /// Learned without uncertainty: no prior, no variance (docs/reference/networks.md, "Point parameters").
  bool is_point = false;
  Index units = 1;  ///< outputs of a dense layer, input channels of a convolution
  /// Number of first parameters that give means; the others give log noise precisions (last layer of a
  /// heteroscedastic network). 0: all alike.
  Index of_means = 0;
  Index size() const { return rows * cols; }
};

/// Weights W (outputs x inputs, row-major in theta, i.e. W^T column-major) and perhaps a bias.
struct DenseShape {
  Index inputs, outputs, weight_offset, bias_offset;  // bias_offset < 0: no bias
  bool of_data = false;  ///< its inputs are the examples themselves, the same for all samples
  Index weights() const { return inputs * outputs; }
  Index parameters() const { return weights() + (has_bias() ? outputs : 0); }
  bool has_bias() const { return bias_offset >= 0; }
};

/// Number of examples in a packet. It is the same for all widths of vectors, so results do not depend on
/// them.
inline constexpr Index packet_size = 16;

inline Index packets_of(Index examples) {
  return (examples + packet_size - 1) / packet_size;
}

/// A column of a matrix holds one example, or a packet: every position of every channel is then a few whole
/// vectors of examples, whatever the kernel and its stride.
enum class Layout { columns, packets };

/// Places in packets: example i at position p of channel c is number (i / 16) packet_numbers() + (c stride()
/// + p) 16 + i % 16.
struct PacketMap {
  Shape shape;
  /// Positions from a channel to the next. It is odd, since the channels of maps of 2^n positions would
  /// compete for a few places of the cache.
  Index stride() const { return (shape.rows * shape.columns) | 1; }
  Index channel_numbers() const { return stride() * packet_size; }
  Index packet_numbers() const { return shape.channels * channel_numbers(); }
};

/// Height of a matrix that holds maps of this shape.
inline Index column_numbers(Layout layout, const Shape& shape) {
  return layout == Layout::columns ? shape.size() : PacketMap{shape}.packet_numbers();
}
inline Index columns_of(Layout layout, Index examples) {
  return layout == Layout::columns ? examples : packets_of(examples);
}

/// Sets the numbers between channels to 0 after a map was written, so that whole maps can be read.
template <class T>
void clear_gaps(const PacketMap& map, MatrixView<T> out) {
  const Index positions = map.shape.rows * map.shape.columns;
  if (map.stride() == positions) return;
  for (Index packet = 0; packet < out.cols; ++packet)
    for (Index c = 0; c < map.shape.channels; ++c)
      std::fill_n(out.column_data(packet) + (c * map.stride() + positions) * packet_size, packet_size, T(0));
}

/// Sets the gaps and the places of absent examples to 0: sensitivities must be 0 there.
template <class T>
void clear_rest(const PacketMap& map, Index examples, MatrixView<T> out) {
  const Index present = examples % packet_size;
  clear_gaps(map, out);
  for (Index p = 0; present > 0 && p < map.shape.channels * map.stride(); ++p)
    std::fill_n(out.column_data(out.cols - 1) + p * packet_size + present, packet_size - present, T(0));
}

}  // namespace bdl
