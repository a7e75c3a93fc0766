// Convolutions of packets, forward and backward to the inputs. Neither patches nor padded copies are made:
// the taps of a position are aligned vectors where they stand, and those in the padding are left out.
#pragma once

#include "network/convolution/conv_shape.hpp"

namespace bdl {

/// Z = W * A + b; columns are packets. `bias` may be null.
template <class T>
void convolve(const ConvShape& shape, const T* weights, const T* bias, ConstMatrixView<T> in,
              MatrixView<T> out);

/// to = W^T * E, the derivative by the inputs; add: to += that.
template <class T>
void convolve_back(const ConvShape& shape, const T* weights, ConstMatrixView<T> e, bool add,
                   MatrixView<T> to);

}  // namespace bdl
