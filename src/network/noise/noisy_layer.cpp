#include "network/noise/noisy_layer.hpp"

#include <cmath>

namespace bdl {
namespace {

/// Calls visit(column, its weights) for all columns: one weight for an example, or 16 for a packet, where
/// absent examples have weights too.
template <class T, class Visit>
void for_each_example_column(Layout layout, MatrixView<T> m, const T* weights, Visit&& visit) {
  const Index lanes = layout == Layout::columns ? 1 : packet_size;
  parallel_blocks(m.cols, task_grain(m.rows), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index j = first; j < first + count; ++j) visit(j, weights + j * lanes);
    });
  });
}

/// to = w_i from, or to += w_i from, for the numbers of each example i.
template <bool add, class T>
void scale_examples(Layout layout, ConstMatrixView<T> from, const T* weights, MatrixView<T> to) {
  for_each_example_column(layout, to, weights, [=](Index j, const T* w) BDL_INLINE_LAMBDA {
    const T* const in = from.column_data(j);
    T* const out = to.column_data(j);
    if (layout == Layout::columns) {
      const T factor = w[0];
      for (Index i = 0; i < to.rows; ++i) out[i] = (add ? out[i] : T(0)) + factor * in[i];
      return;
    }
    for (Index i = 0; i < to.rows; i += packet_size)
      for (Index lane = 0; lane < packet_size; ++lane)
        out[i + lane] = (add ? out[i + lane] : T(0)) + w[lane] * in[i + lane];
  });
}

/// to = signs o from, or to += signs o from, with a sign for each channel of each example. `run` is the
/// number of values of a channel in a column; `signs` have the same layout, with one position.
template <bool add, class T>
void apply_signs(Layout layout, Index run, ConstMatrixView<T> from, ConstMatrixView<T> signs,
                 MatrixView<T> to) {
  const Index lanes = layout == Layout::columns ? 1 : packet_size;
  parallel_blocks(to.cols, task_grain(to.rows), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index j = first; j < first + count; ++j)
        for (Index c = 0; c < signs.rows / lanes; ++c) {
          const T *const sign = signs.column_data(j) + c * lanes, *const in = from.column_data(j) + c * run;
          T* const out = to.column_data(j) + c * run;
          for (Index i = 0; i < run; i += lanes)
            for (Index lane = 0; lane < lanes; ++lane)
              out[i + lane] = (add ? out[i + lane] : T(0)) + sign[lane] * in[i + lane];
        }
    });
  });
}

}  // namespace

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
ConstMatrixView<T> NoisyLayer<T>::of_sample(Index s, ConstMatrixView<T> all) const {
  return all.cols == columns() ? all : all.columns(s * columns(), columns());
}

template <class T>
void NoisyLayer<T>::begin(const NoiseSize& size, const LayerPosterior<T>& posterior,
                          const NoiseSource<T>& source) {
  size_ = size;
  posterior_ = posterior;
  source_ = &source;
  if (size.noise == LayerNoise::local) begin_local();
  if (size.noise == LayerNoise::weights) source.check_example_parameters(number_, packets_of(size.examples));
}

template <class T>
void NoisyLayer<T>::forward(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps, MatrixView<T> z,
                            Scratch& scratch) {
  if (size_.noise == LayerNoise::shared) {
    draw_shared(s, eps);
    return apply(drawn(s), 1, a, z);
  }
  if (size_.noise == LayerNoise::weights) return apply_example_weights(s, a, eps, z, scratch);
  apply({posterior_.mean, parameters_, 1}, 0, a, z);
  const Scratch::Frame frame(scratch);
  const MatrixView<T> product = scratch.matrix<T>(z.rows, z.cols);
  for (Index k = 0; k < eps.cols; ++k) {
    apply(posterior_.w, k, a, product);
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
  if (size_.noise == LayerNoise::weights) return pull_example_weights(s, e, eps, add, to, scratch);
  pull({posterior_.mean, parameters_, 1}, 0, e, add, to);
  const Scratch::Frame frame(scratch);
  const MatrixView<T> scaled = scratch.matrix<T>(e.rows, e.cols);
  for (Index k = 0; k < eps.cols; ++k) {
    scale_examples<false, T>(layout(), e, eps.column_data(k), scaled);
    pull(posterior_.w, k, scaled, true, to);
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

/// The gradients by mu and the columns of W are sums of the examples' gradients, times 1 and their normals.
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
      add_example_gradient(s, of_sample(s, a), of_sample(s, e), c, out.log_sigma, scratch);
    else
      add_flipout_gradient(s, of_sample(s, a), of_sample(s, e), c, out.log_sigma, scratch);
  }
}

/// Returns the signs of a shape's channels for sample s. They stand after those of `before` channels of all
/// samples.
template <class T>
MatrixView<T> NoisyLayer<T>::signs(Index before, const Shape& shape, Index s) const {
  const Index all = columns() * size_.samples;
  T* const kept = kept_.first((input().channels + output().channels) * lanes() * all).data();
  const MatrixView<T> of_all(kept + before * lanes() * all, shape.channels * lanes(), all);
  return of_all.columns(s * columns(), columns());
}

/// Returns what was drawn for sample s: sqrt(s) zeta and, if all examples share a draw, theta.
template <class T>
MatrixView<T> NoisyLayer<T>::drawn(Index s) const {
  const Index each = size_.noise == LayerNoise::shared ? 2 : 1;
  return drawn_.matrix(parameters_, each * size_.samples).columns(s * each, each);
}

/// Draws n = sqrt(s) zeta, the diagonal term of all examples.
template <class T>
void NoisyLayer<T>::draw_diagonal(Index s) {
  const std::span<T> n = drawn(s).column(0);
  source_->parameters(number_, s, n);
  const T* const variance = posterior_.s;
  T* const to = n.data();
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { to[i] *= std::sqrt(variance[i]); });
}

/// z += r o (N (t o A)).
template <class T>
void NoisyLayer<T>::add_flipout(Index s, ConstMatrixView<T> a, MatrixView<T> z, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const MatrixView<T> in = scratch.matrix<T>(a.rows, a.cols), out = scratch.matrix<T>(z.rows, z.cols);
  draw_diagonal(s);
  source_->signs(number_, s, signs_in(s), signs_out(s));
  apply_signs<false, T>(layout(), in_run(), a, signs_in(s), in);
  apply(drawn(s), 0, in, out);
  apply_signs<true, T>(layout(), out_run(), out, signs_out(s), z);
}

/// to += t o (N^T (r o E)).
template <class T>
void NoisyLayer<T>::pull_flipout(Index s, ConstMatrixView<T> e, MatrixView<T> to, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const MatrixView<T> out = scratch.matrix<T>(e.rows, e.cols), in = scratch.matrix<T>(to.rows, to.cols);
  apply_signs<false, T>(layout(), out_run(), e, signs_out(s), out);
  pull(drawn(s), 0, out, false, in);
  apply_signs<true, T>(layout(), in_run(), in, signs_in(s), to);
}

/// out += n o (sum of the gradients by N, from the inputs t o A and sensitivities r o E).
template <class T>
void NoisyLayer<T>::add_flipout_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                                         std::span<T> out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const MatrixView<T> in = scratch.matrix<T>(a.rows, a.cols), signed_e = scratch.matrix<T>(e.rows, e.cols);
  apply_signs<false, T>(layout(), in_run(), a, signs_in(s), in);
  apply_signs<false, T>(layout(), out_run(), e, signs_out(s), signed_e);
  T* const by_n = scratch.take<T>(parameters_).data();
  sum_rows(in, signed_e, {c.data(), std::ssize(c), 1}, {by_n, parameters_, 1}, scratch);
  const T* const n = drawn(s).data;
  T* const to = out.data();
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { to[i] += n[i] * by_n[i]; });
}

/// Draws theta = mu + n + W eps for all examples.
template <class T>
void NoisyLayer<T>::draw_shared(Index s, ConstMatrixView<T> eps) {
  draw_diagonal(s);
  const T *const n = drawn(s).column_data(0), *const mean = posterior_.mean;
  T* const theta = drawn(s).column_data(1);
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { theta[i] = mean[i] + n[i]; });
  for (Index k = 0; k < eps.cols; ++k) {
    const T* const w = posterior_.w.column_data(k);
    const T factor = eps(0, k);
    for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { theta[i] += factor * w[i]; });
  }
}

/// The gradient g by theta gives g by mu, eps_k g by W's columns, and n o g by log sigma.
template <class T>
void NoisyLayer<T>::shared_gradient(ConstMatrixView<T> a, ConstMatrixView<T> e,
                                    const NoiseWeights<T>& weights, const LayerGradient<T>& out,
                                    Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  T* const g = scratch.take<T>(parameters_).data();
  for (Index s = 0; s < size_.samples; ++s) {
    const auto c = weights.c.subspan(at(s * size_.examples), at(size_.examples));
    sum_rows(of_sample(s, a), of_sample(s, e), {c.data(), size_.examples, 1}, {g, parameters_, 1}, scratch);
    const auto add_to = [&](T* to, T factor) {
      for_each_index(parameters_,
                     [=](Index i) BDL_INLINE_LAMBDA { to[i] = (s == 0 ? T(0) : to[i]) + factor * g[i]; });
    };
    add_to(out.mean.data(), T(1));
    for (Index k = 0; k < out.w.cols; ++k) add_to(out.w.column_data(k), weights.eps(s, k));
    if (out.log_sigma.empty()) continue;
    const T* const n = drawn(s).data;
    T* const to = out.log_sigma.data();
    for_each_index(parameters_,
                   [=](Index i) BDL_INLINE_LAMBDA { to[i] = (s == 0 ? T(0) : to[i]) + n[i] * g[i]; });
  }
}

template class NoisyLayer<float>;
template class NoisyLayer<double>;

}  // namespace bdl
