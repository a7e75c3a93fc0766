// Noise that is independent between examples. local: the outputs get the noise that random weights would give
// them, which is exact where an output uses each weight once per example, in dense layers; in convolutions
// the noise of positions is independent. weights: weights of 16 examples are formed where they multiply, and
// never stored.
#include <cmath>

#include "linalg/dot.hpp"
#include "network/layers.hpp"
#include "network/noise/noisy_layer.hpp"

namespace bdl {
namespace {

/// A column of outputs has `outputs` maps of `run` numbers; `maps` maps of Q are each for as many of these.
struct VarianceMaps {
  Index maps, outputs, run;
  /// Outputs that have a map of Q each count as one long map.
  static VarianceMaps of(Index maps, Index outputs, Index run) {
    return maps == outputs ? VarianceMaps{1, 1, outputs * run} : VarianceMaps{maps, outputs, run};
  }
  bool is_one_number() const { return maps == 1 && run == 1; }
};

/// Calls visit(width of vectors, column) for all columns.
template <class Visit>
void for_each_output_column(const VarianceMaps& of, Index cols, Visit&& visit) {
  parallel_blocks(cols, task_grain(of.outputs * of.run), [&](Index first, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index j = first; j < first + count; ++j) visit(width, j);
    });
  });
}

/// out += xi sqrt(q), and xi becomes xi / (2 sqrt(q)). The step is that of q: 0 if all outputs have the same.
template <Index step, class T>
BDL_ALWAYS_INLINE void add_noise(const T* q, Index count, T* xi, T* out) {
  for (Index i = 0; i < count; ++i) {
    const T root = std::sqrt(q[step * i]);
    out[i] += xi[i] * root;
    xi[i] = root > 0 ? xi[i] / (2 * root) : T(0);
  }
}

template <class T>
void square(ConstMatrixView<T> from, MatrixView<T> to) {
  const T* const in = from.data;
  T* const out = to.data;
  for_each_index(from.size(), [=](Index i) BDL_INLINE_LAMBDA { out[i] = in[i] * in[i]; });
}

/// Returns the shape of a layer with one output in place of all outputs with the same inputs.
DenseShape common(const DenseShape& shape) {
  return {shape.inputs, 1, 0, shape.has_bias() ? shape.inputs : -1};
}
ConvShape common(const ConvShape& shape) {
  ConvShape one = shape;
  one.output.channels = shape.groups;
  if (shape.has_bias()) one.bias_offset = one.weights();
  return one;
}

/// The draws mu + W eps_i + sqrt(s) zeta_i of a layer's parameters; given `c`, only c_i sqrt(s) zeta_i.
template <class T>
class ExampleDraws final : public ExampleNumbers<T> {
 public:
  ExampleDraws(const LayerPosterior<T>& posterior, ConstMatrixView<T> eps, const NoiseSource<T>& source,
               Index layer, Index sample, ConstSpan<T> c = {})
      : posterior_(posterior), eps_(eps), source_(source), layer_(layer), sample_(sample), c_(c) {}

  void form(Index packet, Index first, Index count, T* out) const noexcept override {
    source_.example_parameters(layer_, sample_, packet, first, count, out);
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
      const T mean = posterior_.mean[first + p], sigma = std::sqrt(posterior_.s[first + p]);
      for (Index lane = 0; lane < packet_size; ++lane) to[lane] = mean + sigma * to[lane];
    }
    for (Index k = 0; k < eps_.cols; ++k) {
      const T* const eps = eps_.column_data(k) + packet * packet_size;
      const T* const w = posterior_.w.column_data(k) + first;
      for (Index p = 0; p < count; ++p)
        for (Index lane = 0; lane < packet_size; ++lane) out[p * packet_size + lane] += w[p] * eps[lane];
    }
  }
  BDL_ALWAYS_INLINE void weigh(Index packet, Index first, Index count, T* out) const {
    T weights[packet_size] = {};
    for (Index lane = 0; lane < packet_size && packet * packet_size + lane < std::ssize(c_); ++lane)
      weights[lane] = c_[at(packet * packet_size + lane)];
    for (Index p = 0; p < count; ++p) {
      const T sigma = std::sqrt(posterior_.s[first + p]);
      for (Index lane = 0; lane < packet_size; ++lane) out[p * packet_size + lane] *= sigma * weights[lane];
    }
  }

  const LayerPosterior<T>& posterior_;
  ConstMatrixView<T> eps_;
  const NoiseSource<T>& source_;
  Index layer_, sample_;
  ConstSpan<T> c_;
};

/// A dense layer is a convolution with one position.
ConvShape as_convolution(const DenseShape& shape) {
  ConvShape one{{shape.inputs}, {shape.outputs}, 1};
  if (shape.has_bias()) one.bias_offset = shape.weights();
  return one;
}

}  // namespace

/// Number of maps of Q: one for each output or, with a common s, one for all outputs with the same inputs.
template <class T>
Index NoisyLayer<T>::variance_maps() const {
  if (!posterior_.has_common_s) return output().channels;
  return conv_ ? conv_->groups : 1;
}

/// Returns xi of sample s, which becomes xi / (2 sqrt Q).
template <class T>
MatrixView<T> NoisyLayer<T>::output_noise(Index s) const {
  return kept_.matrix(out_height(), columns() * size_.samples).columns(s * columns(), columns());
}

/// Returns a common s as weights of one map for all outputs with the same inputs.
template <class T>
MatrixView<T> NoisyLayer<T>::common_weights() const {
  const Index count = with_shape([](const auto& shape) { return common(shape).parameters(); });
  return drawn_.matrix(count, 1);
}

template <class T>
void NoisyLayer<T>::begin_local() {
  if (posterior_.has_common_s) std::ranges::fill(common_weights().column(0), posterior_.s[0]);
}

/// Q = S (A o A).
template <class T>
void NoisyLayer<T>::apply_variance(ConstMatrixView<T> squares, MatrixView<T> q) const {
  if (!posterior_.has_common_s) return apply({posterior_.s, parameters_, 1}, 0, squares, q);
  const SampledWeights<T> weights(common_weights());
  with_shape([&](const auto& shape) { weights.apply(common(shape), 0, squares, q); });
}

template <class T>
void NoisyLayer<T>::pull_variance(ConstMatrixView<T> h, MatrixView<T> to) const {
  if (!posterior_.has_common_s) return pull({posterior_.s, parameters_, 1}, 0, h, false, to);
  const SampledWeights<T> weights(common_weights());
  with_shape([&](const auto& shape) { weights.pull(common(shape), 0, h, false, to); });
}

/// z += xi sqrt(Q); keeps xi / (2 sqrt(Q)).
template <class T>
void NoisyLayer<T>::add_local(Index s, ConstMatrixView<T> a, MatrixView<T> z, Scratch& scratch) {
  const auto of = VarianceMaps::of(variance_maps(), output().channels, out_run());
  const Scratch::Frame frame(scratch);
  const MatrixView<T> squares = scratch.matrix<T>(a.rows, a.cols), xi = output_noise(s),
                      q = scratch.matrix<T>(of.maps * of.run, z.cols);
  square(a, squares);
  apply_variance(squares, q);
  source_->outputs(number_, s, xi);
  for_each_output_column(of, z.cols, [=](auto, Index j) BDL_INLINE_LAMBDA {
    const T* const variance = q.column_data(j);
    T *const noise = xi.column_data(j), *const out = z.column_data(j);
    if (of.is_one_number()) return add_noise<0>(variance, of.outputs, noise, out);
    for (Index o = 0; o < of.outputs; ++o)
      add_noise<1>(variance + o * of.maps / of.outputs * of.run, of.run, noise + o * of.run,
                   out + o * of.run);
  });
}

/// Returns H = E o xi / (2 sqrt(Q)), added up over the outputs that have a map of Q in common; it lives in
/// the caller's frame of scratch memory.
template <class T>
MatrixView<T> NoisyLayer<T>::sensitivities_of_variance(Index s, ConstMatrixView<T> e,
                                                       Scratch& scratch) const {
  const auto of = VarianceMaps::of(variance_maps(), output().channels, out_run());
  const ConstMatrixView<T> noise = output_noise(s);
  const MatrixView<T> h = scratch.matrix<T>(of.maps * of.run, e.cols);
  for_each_output_column(of, e.cols, [=](auto width, Index j) BDL_INLINE_LAMBDA {
    const T *const from = e.column_data(j), *const of_noise = noise.column_data(j);
    T* const to = h.column_data(j);
    if (of.is_one_number()) {
      *to = dot<width()>(from, of_noise, of.outputs);
      return;
    }
    for (Index o = 0; o < of.outputs; ++o) {
      const bool is_first = o % (of.outputs / of.maps) == 0;
      const T *const in = from + o * of.run, *const xi = of_noise + o * of.run;
      T* const sum = to + o * of.maps / of.outputs * of.run;
      for (Index i = 0; i < of.run; ++i) sum[i] = (is_first ? T(0) : sum[i]) + in[i] * xi[i];
    }
  });
  return h;
}

/// to += 2 A o (S^T H).
template <class T>
void NoisyLayer<T>::pull_local(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, MatrixView<T> to,
                               Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const MatrixView<T> by_squares = scratch.matrix<T>(a.rows, a.cols);
  pull_variance(sensitivities_of_variance(s, e, scratch), by_squares);
  const T *const in = a.data, *const from = by_squares.data;
  T* const out = to.data;
  for_each_index(to.size(), [=](Index i) BDL_INLINE_LAMBDA { out[i] += 2 * in[i] * from[i]; });
}

/// The gradient by s is ds = H^T (A o A), and by log sqrt(s) it is 2 s ds: twice the sum of H o Q if s is
/// common.
template <class T>
void NoisyLayer<T>::add_local_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                                       std::span<T> out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const MatrixView<T> squares = scratch.matrix<T>(a.rows, a.cols),
                      h = sensitivities_of_variance(s, e, scratch);
  square(a, squares);
  if (posterior_.has_common_s) {
    out[0] += static_cast<T>(2 * common_gradient(squares, h, c, scratch));
    return;
  }
  T* const by_s = scratch.take<T>(parameters_).data();
  sum_rows(squares, h, {c.data(), std::ssize(c), 1}, {by_s, parameters_, 1}, scratch);
  const T* const variance = posterior_.s;
  T* const to = out.data();
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { to[i] += 2 * variance[i] * by_s[i]; });
}

/// Returns sum_i c_i sum H o Q.
template <class T>
double NoisyLayer<T>::common_gradient(ConstMatrixView<T> squares, ConstMatrixView<T> h, ConstSpan<T> c,
                                      Scratch& scratch) const {
  const MatrixView<T> q = scratch.matrix<T>(h.rows, h.cols);
  apply_variance(squares, q);
  double sum = 0;
  for (Index j = 0; j < h.cols; ++j)
    for (Index i = 0; i < h.rows; ++i) {
      const Index example = j * lanes() + i % lanes();
      if (example < std::ssize(c))
        sum +=
            static_cast<double>(c[at(example)]) * static_cast<double>(h(i, j)) * static_cast<double>(q(i, j));
    }
  return sum;
}

template <class T>
ConvShape NoisyLayer<T>::example_shape() const {
  return conv_ ? *conv_ : as_convolution(*dense_);
}

/// Returns the columns in packets, as they are or repacked into scratch memory.
template <class T>
ConstMatrixView<T> NoisyLayer<T>::packed(ConstMatrixView<T> columns, Scratch& scratch) const {
  if (conv_) return columns;
  const PacketMap map{{columns.rows}};
  const MatrixView<T> packets = scratch.matrix<T>(map.packet_numbers(), packets_of(columns.cols));
  to_packets<T>(map, columns, false, packets);
  return packets;
}

template <class T>
void NoisyLayer<T>::apply_example_weights(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps,
                                          MatrixView<T> z, Scratch& scratch) const {
  const ExampleDraws<T> draws(posterior_, eps, *source_, number_, s);
  if (conv_) return convolve_by_example(*conv_, draws, a, z);
  const PacketMap map{output()};
  const Scratch::Frame frame(scratch);
  const MatrixView<T> out = scratch.matrix<T>(map.packet_numbers(), packets_of(a.cols));
  convolve_by_example(example_shape(), draws, packed(a, scratch), out);
  to_columns<T>(map, out, false, z);
}

template <class T>
void NoisyLayer<T>::pull_example_weights(Index s, ConstMatrixView<T> e, ConstMatrixView<T> eps, bool add,
                                         MatrixView<T> to, Scratch& scratch) const {
  const ExampleDraws<T> draws(posterior_, eps, *source_, number_, s);
  if (conv_) return convolve_back_by_example(*conv_, draws, e, add, to);
  const PacketMap map{input()};
  const Scratch::Frame frame(scratch);
  const MatrixView<T> in = scratch.matrix<T>(map.packet_numbers(), packets_of(e.cols));
  convolve_back_by_example(example_shape(), draws, packed(e, scratch), false, in);
  to_columns<T>(map, in, add, to);
}

/// out += sum_i c_i sqrt(s) zeta_i o (the gradient of example i).
template <class T>
void NoisyLayer<T>::add_example_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                                         std::span<T> out, Scratch& scratch) {
  const ExampleDraws<T> draws(posterior_, {}, *source_, number_, s, c);
  const Scratch::Frame frame(scratch);
  const std::span<T> sums = scratch.take<T>(parameters_);
  sum_gradients_by_example<T>(example_shape(), draws, {packed(a, scratch), packed(e, scratch)}, sums);
  const T* const from = sums.data();
  T* const to = out.data();
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { to[i] += from[i]; });
}

#define BDL_INSTANTIATE(T)                                                                               \
  template void NoisyLayer<T>::begin_local();                                                            \
  template void NoisyLayer<T>::add_local(Index, ConstMatrixView<T>, MatrixView<T>, Scratch&);            \
  template void NoisyLayer<T>::pull_local(Index, ConstMatrixView<T>, ConstMatrixView<T>, MatrixView<T>,  \
                                          Scratch&) const;                                               \
  template void NoisyLayer<T>::add_local_gradient(Index, ConstMatrixView<T>, ConstMatrixView<T>,         \
                                                  ConstSpan<T>, std::span<T>, Scratch&);                 \
  template void NoisyLayer<T>::apply_example_weights(Index, ConstMatrixView<T>, ConstMatrixView<T>,      \
                                                     MatrixView<T>, Scratch&) const;                     \
  template void NoisyLayer<T>::pull_example_weights(Index, ConstMatrixView<T>, ConstMatrixView<T>, bool, \
                                                    MatrixView<T>, Scratch&) const;                      \
  template void NoisyLayer<T>::add_example_gradient(Index, ConstMatrixView<T>, ConstMatrixView<T>,       \
                                                    ConstSpan<T>, std::span<T>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
