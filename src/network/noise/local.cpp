// Local reparametrisation: the outputs' own noise, xi sqrt(Q) with Q = S (A o A). Exact where an output uses
// each weight once per example, in dense layers; in convolutions the noise of positions is independent.
#include <cmath>

#include "linalg/dot.hpp"
#include "network/noise/examples.hpp"
#include "network/noise/noisy_layer.hpp"

namespace bdl {
namespace {

/// Outputs of a column, of `outputs` maps of `run` numbers, and maps of Q: that many outputs share one.
struct VarianceMaps {
  Index maps, outputs, run;
  /// Outputs with a map each are one long map; those of dense layers with a common s are one run.
  static VarianceMaps of(Index maps, Index outputs, Index run) {
    return maps == outputs ? VarianceMaps{1, 1, outputs * run} : VarianceMaps{maps, outputs, run};
  }
  bool is_one_number() const { return maps == 1 && run == 1; }
};

/// visit(column): of each.
template <class Visit>
void for_each_output_column(const VarianceMaps& of, Index cols, Visit&& visit) {
  parallel_blocks(cols, task_grain(of.outputs * of.run), [&](Index first, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index j = first; j < first + count; ++j) visit(width, j);
    });
  });
}

/// out += xi sqrt(q), and xi becomes xi / (2 sqrt(q)); `step`: of q, 0 where all have one.
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

/// One output for all that see the same inputs.
DenseShape common(const DenseShape& shape) {
  return {shape.inputs, 1, 0, shape.has_bias() ? shape.inputs : -1};
}
ConvShape common(const ConvShape& shape) {
  ConvShape one = shape;
  one.output.channels = shape.groups;
  if (shape.has_bias()) one.bias_offset = one.weights();
  return one;
}

}  // namespace

template <class T>
Index NoisyLayer<T>::variance_maps() const {
  if (!belief_.has_common_s) return output().channels;
  return conv_ ? conv_->groups : 1;
}

template <class T>
MatrixView<T> NoisyLayer<T>::kept(Index s) const {
  return kept_.matrix(out_height(), columns() * size_.samples).columns(s * columns(), columns());
}

/// Of a common s: the weights of one map for all outputs that see the same inputs.
template <class T>
std::span<T> NoisyLayer<T>::common_weights() const {
  return drawn_.first(conv_ ? common(*conv_).parameters() : common(*dense_).parameters());
}

template <class T>
void NoisyLayer<T>::begin_local() {
  if (belief_.has_common_s) std::ranges::fill(common_weights(), belief_.s[0]);
}

/// Q = S (A o A), or its maps for a common s.
template <class T>
void NoisyLayer<T>::apply_variance(ConstMatrixView<T> squares, MatrixView<T> q) const {
  if (!belief_.has_common_s) return apply({belief_.s, parameters_, 1}, 0, squares, q);
  const std::span<T> numbers = common_weights();
  const SampledWeights<T> weights({numbers.data(), std::ssize(numbers), 1});
  conv_ ? weights.apply(common(*conv_), 0, squares, q) : weights.apply(common(*dense_), 0, squares, q);
}

template <class T>
void NoisyLayer<T>::pull_variance(ConstMatrixView<T> h, MatrixView<T> to) const {
  if (!belief_.has_common_s) return pull({belief_.s, parameters_, 1}, 0, h, false, to);
  const std::span<T> numbers = common_weights();
  const SampledWeights<T> weights({numbers.data(), std::ssize(numbers), 1});
  conv_ ? weights.pull(common(*conv_), 0, h, false, to) : weights.pull(common(*dense_), 0, h, false, to);
}

/// z += xi sqrt(Q), and xi / (2 sqrt(Q)) is kept.
template <class T>
void NoisyLayer<T>::add_local(Index s, ConstMatrixView<T> a, MatrixView<T> z, Scratch& scratch) {
  const auto of = VarianceMaps::of(variance_maps(), output().channels, out_run());
  const Scratch::Frame frame(scratch);
  const MatrixView<T> squares = scratch.matrix<T>(a.rows, a.cols), xi = kept(s),
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

/// H = E o kept, added up over the outputs that share a map of Q.
template <class T>
MatrixView<T> NoisyLayer<T>::sensitivities_of_variance(Index s, ConstMatrixView<T> e,
                                                       Scratch& scratch) const {
  const auto of = VarianceMaps::of(variance_maps(), output().channels, out_run());
  const ConstMatrixView<T> noise = kept(s);
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

/// ds = H^T (A o A), and by log sqrt(s) 2 s ds; of a common s the sum of H o Q, twice.
template <class T>
void NoisyLayer<T>::add_local_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                                       std::span<T> out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const MatrixView<T> squares = scratch.matrix<T>(a.rows, a.cols),
                      h = sensitivities_of_variance(s, e, scratch);
  square(a, squares);
  if (belief_.has_common_s) {
    out[0] += static_cast<T>(2 * common_gradient(squares, h, c, scratch));
    return;
  }
  T* const by_s = scratch.take<T>(parameters_).data();
  sum_rows(squares, h, {c.data(), std::ssize(c), 1}, {by_s, parameters_, 1}, scratch);
  const T* const variance = belief_.s;
  T* const to = out.data();
  for_each_index(parameters_, [=](Index i) BDL_INLINE_LAMBDA { to[i] += 2 * variance[i] * by_s[i]; });
}

/// sum_i c_i sum H o Q.
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

#define BDL_INSTANTIATE(T)                                                                              \
  template Index NoisyLayer<T>::variance_maps() const;                                                  \
  template void NoisyLayer<T>::begin_local();                                                           \
  template void NoisyLayer<T>::add_local(Index, ConstMatrixView<T>, MatrixView<T>, Scratch&);           \
  template void NoisyLayer<T>::pull_local(Index, ConstMatrixView<T>, ConstMatrixView<T>, MatrixView<T>, \
                                          Scratch&) const;                                              \
  template void NoisyLayer<T>::add_local_gradient(Index, ConstMatrixView<T>, ConstMatrixView<T>,        \
                                                  ConstSpan<T>, std::span<T>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
