// Weights of each example's own: mu + W eps_i + sqrt(s) zeta_i, formed for 16 examples at a time where they
// are multiplied, and never stored. A dense layer is a convolution with one position.
#include <cmath>

#include "network/convolution/own_weights.hpp"
#include "network/noise/noisy_layer.hpp"
#include "network/repacking.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// A layer's draws, or with `c` only c_i sqrt(s) zeta_i.
template <class T>
class OwnDraws final : public ExampleNumbers<T> {
 public:
  OwnDraws(const LayerBelief<T>& belief, ConstMatrixView<T> eps, const NoiseSource<T>& source, Index layer,
           Index sample, ConstSpan<T> c = {})
      : belief_(belief), eps_(eps), source_(source), layer_(layer), sample_(sample), c_(c) {}

  void form(Index packet, Index first, Index count, T* out) const noexcept override {
    source_.own_parameters(layer_, sample_, packet, first, count, out);
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      if (c_.empty())
        add_mean(packet, first, count, out);
      else
        weigh(packet, first, count, out);
    });
  }

 private:
  BDL_ALWAYS_INLINE void add_mean(Index packet, Index first, Index count, T* out) const {
    for (Index p = 0; p < count; ++p) {
      T* const to = out + p * packet_size;
      const T mean = belief_.mean[first + p], sigma = std::sqrt(belief_.s[first + p]);
      for (Index lane = 0; lane < packet_size; ++lane) to[lane] = mean + sigma * to[lane];
    }
    for (Index k = 0; k < eps_.cols; ++k) {
      const T *const eps = eps_.column_data(k) + packet * packet_size, *const w =
                                                                           belief_.w.column_data(k) + first;
      for (Index p = 0; p < count; ++p)
        for (Index lane = 0; lane < packet_size; ++lane) out[p * packet_size + lane] += w[p] * eps[lane];
    }
  }
  BDL_ALWAYS_INLINE void weigh(Index packet, Index first, Index count, T* out) const {
    T weights[packet_size] = {};
    for (Index lane = 0; lane < packet_size && packet * packet_size + lane < std::ssize(c_); ++lane)
      weights[lane] = c_[at(packet * packet_size + lane)];
    for (Index p = 0; p < count; ++p) {
      const T sigma = std::sqrt(belief_.s[first + p]);
      for (Index lane = 0; lane < packet_size; ++lane) out[p * packet_size + lane] *= sigma * weights[lane];
    }
  }

  const LayerBelief<T>& belief_;
  ConstMatrixView<T> eps_;
  const NoiseSource<T>& source_;
  Index layer_, sample_;
  ConstSpan<T> c_;
};

/// With one position: channel after channel in packets.
ConvShape as_convolution(const DenseShape& shape) {
  ConvShape one{{shape.inputs}, {shape.outputs}, 1};
  if (shape.has_bias()) one.bias_offset = shape.weights();
  return one;
}

}  // namespace

template <class T>
ConvShape NoisyLayer<T>::own_shape() const {
  return conv_ ? *conv_ : as_convolution(*dense_);
}

/// In packets, as they are or repacked into scratch memory.
template <class T>
ConstMatrixView<T> NoisyLayer<T>::packed(ConstMatrixView<T> columns, Scratch& scratch) const {
  if (conv_) return columns;
  const PacketMap map{{columns.rows}};
  const MatrixView<T> packets = scratch.matrix<T>(map.packet_numbers(), packets_of(columns.cols));
  to_packets<T>(map, columns, false, packets);
  return packets;
}

template <class T>
void NoisyLayer<T>::apply_own(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps, MatrixView<T> z,
                              Scratch& scratch) const {
  const OwnDraws<T> draws(belief_, eps, *source_, number_, s);
  if (conv_) return convolve_own(*conv_, draws, a, z);
  const PacketMap map{output()};
  const Scratch::Frame frame(scratch);
  const MatrixView<T> out = scratch.matrix<T>(map.packet_numbers(), packets_of(a.cols));
  convolve_own(own_shape(), draws, packed(a, scratch), out);
  to_columns<T>(map, out, false, z);
}

template <class T>
void NoisyLayer<T>::pull_own(Index s, ConstMatrixView<T> e, ConstMatrixView<T> eps, bool add,
                             MatrixView<T> to, Scratch& scratch) const {
  const OwnDraws<T> draws(belief_, eps, *source_, number_, s);
  if (conv_) return convolve_own_back(*conv_, draws, e, add, to);
  const PacketMap map{input()};
  const Scratch::Frame frame(scratch);
  const MatrixView<T> in = scratch.matrix<T>(map.packet_numbers(), packets_of(e.cols));
  convolve_own_back(own_shape(), draws, packed(e, scratch), false, in);
  to_columns<T>(map, in, add, to);
}

/// sum_i c_i sqrt(s) zeta_i o (the gradient of example i).
template <class T>
void NoisyLayer<T>::add_own_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                                     std::span<T> out, Scratch& scratch) {
  const OwnDraws<T> draws(belief_, {}, *source_, number_, s, c);
  const Scratch::Frame frame(scratch);
  const std::span<T> part = scratch.take<T>(parameters_);
  sum_own_gradients(own_shape(), draws, packed(a, scratch), packed(e, scratch), part);
  const T* const from = part.data();
  T* const to = out.data();
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { to[i] += from[i]; });
}

#define BDL_INSTANTIATE(T)                                                                                   \
  template void NoisyLayer<T>::apply_own(Index, ConstMatrixView<T>, ConstMatrixView<T>, MatrixView<T>,       \
                                         Scratch&) const;                                                    \
  template void NoisyLayer<T>::pull_own(Index, ConstMatrixView<T>, ConstMatrixView<T>, bool, MatrixView<T>,  \
                                        Scratch&) const;                                                     \
  template void NoisyLayer<T>::add_own_gradient(Index, ConstMatrixView<T>, ConstMatrixView<T>, ConstSpan<T>, \
                                                std::span<T>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
