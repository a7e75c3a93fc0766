// Convolutions in which every example has weights of its own, which variational inference draws. They are
// never all there: a few filters' weights of a packet are formed, used for all positions, and forgotten.
// Numbers of a packet's examples are vectors, and so are their weights.
#pragma once

#include "network/convolution/conv_shape.hpp"

namespace bdl {

/// A number for each example and each parameter of the layer: its weights (filter, channel, tap), then its
/// biases. Packets are those of outputs and sensitivities.
template <class T>
class ExampleNumbers {
 public:
  ExampleNumbers() = default;
  ExampleNumbers(const ExampleNumbers&) = delete;
  ExampleNumbers& operator=(const ExampleNumbers&) = delete;
  virtual ~ExampleNumbers() = default;
  /// out[16 p + lane] for parameter first + p, p < count, and the examples of the packet; finite where there
  /// is no example. Tasks call it at the same time, with any ranges: what it writes depends on nothing else.
  virtual void form(Index packet, Index first, Index count, T* out) const noexcept = 0;
};

/// z_i = w_i * a_i + b_i. Columns are packets; packet j of `out` is of packet j mod in.cols of `in`.
template <class T>
void convolve_own(const ConvShape& shape, const ExampleNumbers<T>& weights, ConstMatrixView<T> in,
                  MatrixView<T> out);

/// to_i = w_i^T * e_i, the derivative by the inputs; add: to_i += that.
template <class T>
void convolve_own_back(const ConvShape& shape, const ExampleNumbers<T>& weights, ConstMatrixView<T> e,
                       bool add, MatrixView<T> to);

/// out_p = sum_i n_ip g_ip, g_i the gradient of example i by weights and biases. Packet j of E belongs to
/// packet j mod in.cols of the inputs; where a packet has no example, its sensitivities are 0.
template <class T>
void sum_own_gradients(const ConvShape& shape, const ExampleNumbers<T>& numbers, ConstMatrixView<T> in,
                       ConstMatrixView<T> e, std::span<T> out);

}  // namespace bdl
