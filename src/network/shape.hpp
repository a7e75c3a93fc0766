// What flows between layers: so many numbers an example, in channels of rows x columns.
#pragma once

#include <string>

#include "base/view.hpp"

namespace bdl {

/// For containers of the standard library.
constexpr std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Shape {
  Index channels = 1, rows = 1, columns = 1;
  Index size() const { return channels * rows * columns; }
  bool is_image() const { return rows != 1 || columns != 1; }
  bool operator==(const Shape&) const = default;
};

/// "13" or "3 x 32 x 32".
std::string shape_text(const Shape& shape);

/// So many parameters from offset on.
struct ParameterRange {
  Index offset, size;
  bool operator==(const ParameterRange&) const = default;
};

/// A named part of theta: rows x cols, row-major, from offset on.
struct ParameterBlock {
  std::string name;
  Index offset, rows, cols;
  Index layer;
  bool is_bias;
  Index fan_in = 1;  ///< inputs of the layer; 1 where there are no layers
  /// Learned without uncertainty: no prior, no variance (docs/networks.md, "Point parameters").
  bool is_point = false;
  Index units = 1;  ///< outputs of a dense layer, input channels of a convolution
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

}  // namespace bdl
