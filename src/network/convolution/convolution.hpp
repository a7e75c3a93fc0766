// Convolutions and the gradients by their weights. With stride s and padding p, filter o of a group computes
//
//   z(o, y, x) = b_o + sum over c, a, b of w(o, c, a, b) in(c, y s + a - p, x s + b - p),
//
// where c runs over the channels of the group, the tap (a, b) over the kernel, and inputs outside of the map
// are 0. Maps come in packets of 16 examples (network/shape.hpp), so every position is a few whole vectors:
// neither patches nor padded copies are made, and taps in the padding are left out. From its inputs A_r and
// the sensitivities E_r of its outputs, example r has the gradient by the weights
//
//   g_r(o, c, a, b) = sum over y, x of e_r(o, y, x) in_r(c, y s + a - p, x s + b - p).
//
// No function stores the gradients of all examples. The products, and the files that compute them:
//
//   conv.cpp              the layer
//   convolve.cpp          W * A_r + b forward, and W^T * E_r backward to the inputs
//   example_convolve.cpp  both with weights W_r that each example draws for itself (noise/)
//   patch_products.cpp    sum_r c_r g_r, sum_r w_r g_r^2, sum_p v_p g_rp^2, and blocks of gradients that are
//                         written out: all from tiles of g_r in registers (patch_tile.hpp)
//   factor_sums.cpp       the two sums over r by BLAS, which is faster where each tap meets few positions
//   example_sums.cpp      sum_r n_rp g_rp, with a number for each example and parameter
//   patch_gram.cpp        <g_r, g_s> from inputs and sensitivities, on small maps
//   patch_rows.cpp        the operations of curvature rows, B W, U^T B, B^T B and sums, from all of these
//   patch_factors.cpp     their single rows, gradients joined over seeds, and Kronecker factors
#pragma once

#include <algorithm>

#include "base/scratch.hpp"
#include "network/shape.hpp"

namespace bdl {

struct Range {
  Index first, end;
  Index size() const { return end - first; }
};

/// The lines (rows or columns) that a line of the result comes from: `count` consecutive ones from line
/// `from` on. The first has tap `tap`, each further one a tap that is tap_step larger.
struct Lines {
  Index count, from, tap, tap_step;
};

struct ConvShape {
  Shape input, output;
  Index kernel, stride = 1, pad = 0, groups = 1;
  Index weight_offset = 0, bias_offset = -1;  ///< places in theta; bias_offset < 0: no bias

  Index taps() const { return kernel * kernel; }
  Index channels() const { return input.channels / groups; }  ///< number in a group
  Index filters() const { return output.channels / groups; }  ///< number in a group
  Index fan_in() const { return channels() * taps(); }
  Index weights() const { return output.channels * fan_in(); }
  bool has_bias() const { return bias_offset >= 0; }
  Index parameters() const { return weights() + (has_bias() ? output.channels : 0); }
  Index positions() const { return output.rows * output.columns; }

  /// Returns those of `out` output lines for which the tap lies within `in` input lines.
  Range outputs_of(Index tap, Index in, Index out) const {
    const Index before = pad - tap, last = in - 1 + before;
    const Index first = before > 0 ? (before + stride - 1) / stride : 0;
    const Index end = last < 0 ? 0 : std::min(out, last / stride + 1);
    return {std::min(first, end), end};
  }
  /// Returns those of `inputs` lines that an output line comes from by some of the taps.
  Lines lines_forward(Index line, Index inputs, const Range& taps) const {
    const Index before = pad - line * stride;
    const Index first = std::max(taps.first, before), end = std::min(taps.end, inputs + before);
    return {end - first, first - before, first, 1};
  }
  /// Returns those of `outputs` lines that an input line goes into by some of the taps.
  Lines lines_back(Index line, Index outputs, const Range& taps) const {
    const Index at = line + pad, low = at - taps.end + 1;
    const Index first = low > 0 ? (low + stride - 1) / stride : 0;
    const Index end = at < taps.first ? 0 : std::min(outputs, (at - taps.first) / stride + 1);
    return {end - first, first, at - first * stride, -stride};
  }
  /// Returns the output rows that tap (a, b) meets, and the columns.
  Range output_rows(Index a) const { return outputs_of(a, input.rows, output.rows); }
  Range output_columns(Index b) const { return outputs_of(b, input.columns, output.columns); }
  /// Number of the input that tap (a, b) brings to output (y, x).
  Index input_of(Index y, Index x, Index a, Index b) const {
    return (y * stride + a - pad) * input.columns + x * stride + b - pad;
  }
  /// Number of output positions that a tap meets.
  Index positions_of(Index tap) const {
    return output_rows(tap / kernel).size() * output_columns(tap % kernel).size();
  }
  /// Number of pairs of a position and a tap within the input.
  Index valid_products() const {
    Index rows = 0, columns = 0;
    for (Index tap = 0; tap < kernel; ++tap) {
      rows += output_rows(tap).size();
      columns += output_columns(tap).size();
    }
    return rows * columns;
  }
};

/// Returns a shape with the channels of one group.
inline Shape of_group(const Shape& shape, Index groups) {
  return {shape.channels / groups, shape.rows, shape.columns};
}

/// Z = W * A + b; columns are packets. `bias` may be null.
template <class T>
void convolve(const ConvShape& shape, const T* weights, const T* bias, ConstMatrixView<T> in,
              MatrixView<T> out);

/// to = W^T * E, the derivative by the inputs; add: to += that.
template <class T>
void convolve_back(const ConvShape& shape, const T* weights, ConstMatrixView<T> e, bool add,
                   MatrixView<T> to);

/// A number for each example and each parameter of a layer: its weights in the order (filter, channel, tap),
/// then its biases. They are formed where they are used, for a few parameters and a packet at a time.
template <class T>
class ExampleNumbers {
 public:
  ExampleNumbers() = default;
  ExampleNumbers(const ExampleNumbers&) = delete;
  ExampleNumbers& operator=(const ExampleNumbers&) = delete;
  virtual ~ExampleNumbers() = default;
  /// Writes out[16 p + lane] for parameters first + p, p < count, and the examples of a packet of the
  /// outputs; finite where there is no example. Tasks call it at the same time, with any ranges, and get the
  /// same numbers.
  virtual void form(Index packet, Index first, Index count, T* out) const noexcept = 0;
};

/// z_i = w_i * a_i + b_i, where each example i has weights w_i. Columns are packets; packet j of `out`
/// belongs to packet j mod in.cols of `in`.
template <class T>
void convolve_by_example(const ConvShape& shape, const ExampleNumbers<T>& weights, ConstMatrixView<T> in,
                         MatrixView<T> out);

/// to_i = w_i^T * e_i, the derivative by the inputs; add: to_i += that.
template <class T>
void convolve_back_by_example(const ConvShape& shape, const ExampleNumbers<T>& weights, ConstMatrixView<T> e,
                              bool add, MatrixView<T> to);

/// Inputs and sensitivities in packets. Packet j of E belongs to packet j mod in.cols of the inputs. Where a
/// packet has no example, its sensitivities are 0.
template <class T>
struct PatchFactors {
  ConstMatrixView<T> in, e;
};

/// out_p = sum_i n_ip g_ip, with g_i the gradient of example i by weights and biases.
template <class T>
void sum_gradients_by_example(const ConvShape& shape, const ExampleNumbers<T>& numbers,
                              const PatchFactors<T>& factors, std::span<T> out);

/// A weighted sum over all rows, with a weight for each lane of each packet of E.
template <class T>
struct PatchSums {
  const T* weights;
  T* out;  ///< the layer's weights; null: the sum is not wanted
};

/// sums.out = sum_r c_r g_r and squares.out = sum_r w_r g_r^2, in one pass.
template <class T>
void patch_sums(const ConvShape& shape, const PatchFactors<T>& factors, const PatchSums<T>& sums,
                const PatchSums<T>& squares);

/// out = sum_p v_p g_rp^2 for each lane of each packet of E, over the weights p.
template <class T>
void patch_squares(const ConvShape& shape, const PatchFactors<T>& factors, const T* v, double* out);

/// Some of the weights: filters of one group by some of its channels, with all taps.
struct PatchBlock {
  Range filters, channels;  ///< filters count from the first group's, channels from their group's
};

/// Writes the gradients of all rows by parameter p of the block, in the order (filter, channel, tap), to
/// column p. E comes in sections of `packets` packets, which have `examples` rows each.
template <class T>
void patch_block(const ConvShape& shape, const PatchFactors<T>& factors, const PatchBlock& block,
                 Index packets, Index examples, MatrixView<T> out);

/// Sections of rows, and sections of inputs, which several sections of rows may have in common.
struct GramSize {
  Index examples, sections, input_sections;
  Index rows() const { return examples * sections; }
  Index input_rows() const { return examples * input_sections; }
};

/// Flops of factored_gram(); infinite if it would take too much memory.
double factored_gram_flops(const ConvShape& shape, const GramSize& size);

/// Lower triangle of out = G^T G, or out += G^T G, with the bias included.
template <class T>
void factored_gram(const ConvShape& shape, const PatchFactors<T>& factors, const GramSize& size, bool add,
                   MatrixView<double> out, Scratch& scratch);

}  // namespace bdl
