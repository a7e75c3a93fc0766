// One draw n = sqrt(s) zeta of the diagonal part for all examples. shared: as it is, and with one draw of the
// factors. flipout (Wen et al. 2018): n o (r t^T) for each example, with signs r of its outputs and t of its
// inputs; each example's law is exact, and two are uncorrelated.
#include <cmath>

#include "network/noise/examples.hpp"
#include "network/noise/noisy_layer.hpp"

namespace bdl {

/// Signs of a shape's channels for sample s, which stand behind those of `before` channels for all samples.
template <class T>
MatrixView<T> NoisyLayer<T>::signs(Index before, const Shape& shape, Index s) const {
  const Index all = columns() * size_.samples;
  T* const kept = kept_.first((input().channels + output().channels) * lanes() * all).data();
  const MatrixView<T> of_all(kept + before * lanes() * all, shape.channels * lanes(), all);
  return of_all.columns(s * columns(), columns());
}

template <class T>
MatrixView<T> NoisyLayer<T>::signs_in(Index s) const {
  return signs(0, input(), s);
}

template <class T>
MatrixView<T> NoisyLayer<T>::signs_out(Index s) const {
  return signs(input().channels, output(), s);
}

template <class T>
MatrixView<T> NoisyLayer<T>::drawn(Index s) const {
  const Index each = size_.noise == LayerNoise::shared ? 2 : 1;
  return drawn_.matrix(parameters_, each * size_.samples).columns(s * each, each);
}

/// The diagonal part's draw for all examples.
template <class T>
void NoisyLayer<T>::draw_diagonal(Index s) {
  const std::span<T> n = drawn(s).column(0);
  source_->parameters(number_, s, n);
  const T* const variance = belief_.s;
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

/// n o (sum of the gradients of r o E and t o A).
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

/// theta = mu + n + W eps, for all examples.
template <class T>
void NoisyLayer<T>::draw_shared(Index s, ConstMatrixView<T> eps) {
  draw_diagonal(s);
  const T *const n = drawn(s).column_data(0), *const mean = belief_.mean;
  T* const theta = drawn(s).column_data(1);
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { theta[i] = mean[i] + n[i]; });
  for (Index k = 0; k < eps.cols; ++k) {
    const T* const w = belief_.w.column_data(k);
    const T factor = eps(0, k);
    for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { theta[i] += factor * w[i]; });
  }
}

/// Of the draw's gradient g: g, eps_k g and n o g.
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

#define BDL_INSTANTIATE(T)                                                                             \
  template MatrixView<T> NoisyLayer<T>::drawn(Index) const;                                            \
  template void NoisyLayer<T>::add_flipout(Index, ConstMatrixView<T>, MatrixView<T>, Scratch&);        \
  template void NoisyLayer<T>::pull_flipout(Index, ConstMatrixView<T>, MatrixView<T>, Scratch&) const; \
  template void NoisyLayer<T>::add_flipout_gradient(Index, ConstMatrixView<T>, ConstMatrixView<T>,     \
                                                    ConstSpan<T>, std::span<T>, Scratch&);             \
  template void NoisyLayer<T>::draw_shared(Index, ConstMatrixView<T>);                                 \
  template void NoisyLayer<T>::shared_gradient(ConstMatrixView<T>, ConstMatrixView<T>,                 \
                                               const NoiseWeights<T>&, const LayerGradient<T>&, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
