// Gradients by a convolution's weights: example r has g_r(o, c, a, b) = sum over positions of its sensitivity
// e(o, y, x) times its input (c, y s + a - p, x s + b - p). The 16 lanes of a packet are 16 examples, so a
// tile of filters x taps in registers holds the gradients of single examples: weighted sums, sums of squares
// and blocks of the gradients themselves are read off there, and no example's gradient is stored.
#pragma once

#include "network/convolution/conv_shape.hpp"

namespace bdl {

/// Inputs and sensitivities in packets. Packet j of E belongs to packet j mod in.cols of the inputs. Where a
/// packet has no example, its sensitivities are 0.
template <class T>
struct PatchFactors {
  ConstMatrixView<T> in, e;
};

/// Weighted sums over all rows; a weight for each lane of each packet of E.
template <class T>
struct PatchSums {
  const T* weights;
  T* out;  ///< the weights' share of the parameters; null: not wanted
};

/// sums.out = sum_r c_r g_r and squares.out = sum_r w_r g_r^2, in one pass.
template <class T>
void patch_sums(const ConvShape& shape, const PatchFactors<T>& factors, const PatchSums<T>& sums,
                const PatchSums<T>& squares);

/// out = sum_p v_p g_rp^2 for each lane of each packet of E, over the weights p.
template <class T>
void patch_squares(const ConvShape& shape, const PatchFactors<T>& factors, const T* v, double* out);

/// Some of the weights: filters of one group by some of its channels, all taps.
struct PatchBlock {
  Range filters, channels;  ///< filters of all groups, channels of their group
};

/// Column p of out: parameter p of the block, in the order (filter, channel, tap), of all rows. E comes in
/// sections of `packets` packets, which have `examples` rows each.
template <class T>
void patch_block(const ConvShape& shape, const PatchFactors<T>& factors, const PatchBlock& block,
                 Index packets, Index examples, MatrixView<T> out);

}  // namespace bdl
