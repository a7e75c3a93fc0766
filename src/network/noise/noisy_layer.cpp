#include "network/noise/noisy_layer.hpp"

#include "network/noise/examples.hpp"

namespace bdl {

template <class T>
NoisyLayer<T>::NoisyLayer(const Layer<T>& layer, Index number, bool of_data)
    : number_(number), parameters_(layer.parameters()), rows_(layer.rows(of_data)) {
  const auto from_first = [this](auto shape) {
    first_parameter_ = shape.weight_offset;
    shape.weight_offset = 0;
    if (shape.has_bias()) shape.bias_offset -= first_parameter_;
    return shape;
  };
  if (layer.convolution())
    conv_ = from_first(*layer.convolution());
  else
    dense_ = from_first(*layer.dense());
}

template <class T>
void NoisyLayer<T>::apply(ConstMatrixView<T> columns, Index k, ConstMatrixView<T> a, MatrixView<T> z) const {
  const SampledWeights<T> weights(columns);
  conv_ ? weights.apply(*conv_, k, a, z) : weights.apply(*dense_, k, a, z);
}

template <class T>
void NoisyLayer<T>::pull(ConstMatrixView<T> columns, Index k, ConstMatrixView<T> e, bool add,
                         MatrixView<T> to) const {
  const SampledWeights<T> weights(columns);
  conv_ ? weights.pull(*conv_, k, e, add, to) : weights.pull(*dense_, k, e, add, to);
}

template <class T>
ConstMatrixView<T> NoisyLayer<T>::of_sample(Index s, ConstMatrixView<T> all) const {
  return all.cols == columns() ? all : all.columns(s * columns(), columns());
}

template <class T>
void NoisyLayer<T>::begin(const NoiseSize& size, const LayerBelief<T>& belief, const NoiseSource<T>& source) {
  size_ = size;
  belief_ = belief;
  source_ = &source;
  if (size.noise == LayerNoise::local) begin_local();
  if (size.noise == LayerNoise::weights) source.check_own_parameters(number_, packets_of(size.examples));
}

template <class T>
void NoisyLayer<T>::forward(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps, MatrixView<T> z,
                            Scratch& scratch) {
  if (size_.noise == LayerNoise::shared) {
    draw_shared(s, eps);
    return apply(drawn(s), 1, a, z);
  }
  if (size_.noise == LayerNoise::weights) return apply_own(s, a, eps, z, scratch);
  apply({belief_.mean, parameters_, 1}, 0, a, z);
  const Scratch::Frame frame(scratch);
  const MatrixView<T> product = scratch.matrix<T>(z.rows, z.cols);
  for (Index k = 0; k < eps.cols; ++k) {
    apply(belief_.w, k, a, product);
    scale_examples<true, T>(layout(), product, eps.column_data(k), z);
  }
  if (size_.noise == LayerNoise::local)
    add_local(s, a, z, scratch);
  else
    add_flipout(s, a, z, scratch);
}

template <class T>
void NoisyLayer<T>::backward(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstMatrixView<T> eps,
                             bool add, MatrixView<T> to, Scratch& scratch) const {
  if (size_.noise == LayerNoise::shared) return pull(drawn(s), 1, e, add, to);
  if (size_.noise == LayerNoise::weights) return pull_own(s, e, eps, add, to, scratch);
  pull({belief_.mean, parameters_, 1}, 0, e, add, to);
  const Scratch::Frame frame(scratch);
  const MatrixView<T> scaled = scratch.matrix<T>(e.rows, e.cols);
  for (Index k = 0; k < eps.cols; ++k) {
    scale_examples<false, T>(layout(), e, eps.column_data(k), scaled);
    pull(belief_.w, k, scaled, true, to);
  }
  if (size_.noise == LayerNoise::local)
    pull_local(s, a, e, to, scratch);
  else
    pull_flipout(s, e, to, scratch);
}

template <class T>
void NoisyLayer<T>::sum_rows(ConstMatrixView<T> a, ConstMatrixView<T> e, ConstMatrixView<T> weights,
                             MatrixView<T> out, Scratch& scratch) {
  rows_->view(a, e, size_.examples);
  rows_->combine(0, weights.rows, weights, out, scratch);
}

/// By mu and the columns of W: sums of the examples' gradients, each times the normal that it met.
template <class T>
void NoisyLayer<T>::gradient(ConstMatrixView<T> a, ConstMatrixView<T> e, const NoiseWeights<T>& weights,
                             const LayerGradient<T>& out, Scratch& scratch) {
  if (size_.noise == LayerNoise::shared) return shared_gradient(a, e, weights, out, scratch);
  const Index rows = std::ssize(weights.c);
  sum_rows(a, e, {weights.c.data(), rows, 1}, {out.mean.data(), parameters_, 1}, scratch);
  if (out.w.cols > 0) {
    const Scratch::Frame frame(scratch);
    const MatrixView<T> factors = scratch.matrix<T>(rows, out.w.cols);
    for (Index k = 0; k < out.w.cols; ++k)
      for (Index r = 0; r < rows; ++r) factors(r, k) = weights.c[at(r)] * weights.eps(r, k);
    sum_rows(a, e, factors, out.w, scratch);
  }
  if (out.log_sigma.empty()) return;
  std::ranges::fill(out.log_sigma, T(0));
  for (Index s = 0; s < size_.samples; ++s) {
    const auto c = weights.c.subspan(at(s * size_.examples), at(size_.examples));
    if (size_.noise == LayerNoise::local)
      add_local_gradient(s, of_sample(s, a), of_sample(s, e), c, out.log_sigma, scratch);
    else if (size_.noise == LayerNoise::weights)
      add_own_gradient(s, of_sample(s, a), of_sample(s, e), c, out.log_sigma, scratch);
    else
      add_flipout_gradient(s, of_sample(s, a), of_sample(s, e), c, out.log_sigma, scratch);
  }
}

template class NoisyLayer<float>;
template class NoisyLayer<double>;

}  // namespace bdl
