// The geometry of a convolution: which inputs the taps of its kernel meet.
#pragma once

#include <algorithm>

#include "network/packets.hpp"

namespace bdl {

struct Range {
  Index first, end;
  Index size() const { return end - first; }
};

/// Lines (rows or columns) that one line of the result comes from: `count` consecutive ones, and their taps.
struct Lines {
  Index count, from, tap, tap_step;
};

/// Filters o of group g see the channels of group g: z(o, y, x) = b_o + sum w(o, c, a, b) input(c, y s + a -
/// p, x s + b - p), zero outside of the input.
struct ConvShape {
  Shape input, output;
  Index kernel, stride = 1, pad = 0, groups = 1;
  Index weight_offset = 0, bias_offset = -1;  ///< in theta; bias_offset < 0: no bias

  Index taps() const { return kernel * kernel; }
  Index channels() const { return input.channels / groups; }  ///< of a group
  Index filters() const { return output.channels / groups; }  ///< of a group
  Index fan_in() const { return channels() * taps(); }
  Index weights() const { return output.channels * fan_in(); }
  bool has_bias() const { return bias_offset >= 0; }
  Index parameters() const { return weights() + (has_bias() ? output.channels : 0); }
  Index positions() const { return output.rows * output.columns; }

  /// Outputs of a line of `out` whose tap lies within a line of `in` inputs.
  Range outputs_of(Index tap, Index in, Index out) const {
    const Index before = pad - tap, last = in - 1 + before;
    const Index first = before > 0 ? (before + stride - 1) / stride : 0;
    const Index end = last < 0 ? 0 : std::min(out, last / stride + 1);
    return {std::min(first, end), end};
  }
  /// Of `inputs` lines, those that a line of outputs comes from by some of the taps.
  Lines lines_forward(Index line, Index inputs, const Range& taps) const {
    const Index before = pad - line * stride;
    const Index first = std::max(taps.first, before), end = std::min(taps.end, inputs + before);
    return {end - first, first - before, first, 1};
  }
  /// Of `outputs` lines, those that came from a line of inputs.
  Lines lines_back(Index line, Index outputs, const Range& taps) const {
    const Index at = line + pad, low = at - taps.end + 1;
    const Index first = low > 0 ? (low + stride - 1) / stride : 0;
    const Index end = at < taps.first ? 0 : std::min(outputs, (at - taps.first) / stride + 1);
    return {end - first, first, at - first * stride, -stride};
  }
  /// Of tap (a, b): rows and columns.
  Range output_rows(Index a) const { return outputs_of(a, input.rows, output.rows); }
  Range output_columns(Index b) const { return outputs_of(b, input.columns, output.columns); }
  /// (position, tap) pairs within the input.
  Index valid_products() const {
    Index rows = 0, columns = 0;
    for (Index tap = 0; tap < kernel; ++tap) {
      rows += output_rows(tap).size();
      columns += output_columns(tap).size();
    }
    return rows * columns;
  }
};

}  // namespace bdl
