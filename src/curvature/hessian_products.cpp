#include "curvature/hessian_products.hpp"

#include <algorithm>

#include "linalg/blas/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// to ∘= factor, for `count` matrices side by side.
template <class T>
void scale_each(ConstMatrixView<T> factor, Index count, const T* from, T* to) {
  for (Index k = 0; k < count; ++k) {
    const T *f = factor.data, *in = from + k * factor.size();
    T* out = to + k * factor.size();
    for_each_index(factor.size(), [=](Index i) BDL_INLINE_LAMBDA { out[i] = f[i] * in[i]; });
  }
}

}  // namespace

template <class T>
void HessianProducts<T>::reserve(Index examples, Index directions) {
  const std::size_t layers = network_.layers().size();
  network_.reserve(tape_, examples, 1, 1);
  network_.reserve_curvatures(tape_, examples, 1);
  z_changes_.resize(layers);
  a_changes_.resize(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    z_changes_[l].reserve(layer(l).outputs * examples * directions);
    if (l < last()) a_changes_[l].reserve(layer(l).outputs * examples * directions);
  }
  for (Buffer<T>& buffer : e_changes_) buffer.reserve(most_outputs() * examples * directions);
  terms_.reserve(network_.outputs() * examples);
  squares_.reserve(most_inputs() * examples);
  second_.reserve(most_outputs() * examples);
  products_.reserve(std::max(most_weights(), most_outputs()));
  directions_ = directions;
}

template <class T>
Index HessianProducts<T>::bytes(Index examples, Index directions) const {
  Index hidden = 0;
  for (std::size_t l = 0; l < last(); ++l) hidden += layer(l).outputs;
  const Index outputs = network_.outputs();
  const Index values = examples * (hidden + most_inputs() + most_outputs() +
                                   directions * (2 * hidden + outputs + 2 * most_outputs())) +
                       std::max(most_weights(), most_outputs());
  return network_.tape_bytes(examples, 1, 1) + values * static_cast<Index>(sizeof(T)) +
         outputs * examples * static_cast<Index>(sizeof(double));
}

template <class T>
Index HessianProducts<T>::most_inputs() const {
  return std::ranges::max(network_.layers(), {}, &DenseLayer::inputs).inputs;
}
template <class T>
Index HessianProducts<T>::most_outputs() const {
  return std::ranges::max(network_.layers(), {}, &DenseLayer::outputs).outputs;
}
template <class T>
Index HessianProducts<T>::most_weights() const {
  Index most = 0;
  for (const DenseLayer& l : network_.layers()) most = std::max(most, l.inputs * l.outputs);
  return most;
}

template <class T>
ConstMatrixView<T> HessianProducts<T>::weight_t(std::size_t l) const {
  return {theta_.data + layer(l).weight_offset, layer(l).inputs, layer(l).outputs};
}
template <class T>
ConstMatrixView<T> HessianProducts<T>::input(std::size_t l) const {
  return l == 0 ? tape_.x : tape_.activations[l - 1].matrix(layer(l).inputs, examples_);
}
template <class T>
ConstMatrixView<T> HessianProducts<T>::sensitivity(std::size_t l) const {
  return tape_.sensitivities[l].matrix(layer(l).outputs, examples_);
}
template <class T>
MatrixView<T> HessianProducts<T>::z_change(std::size_t l, Index count) {
  return z_changes_[l].matrix(layer(l).outputs, examples_ * count);
}
template <class T>
MatrixView<T> HessianProducts<T>::a_change(std::size_t l, Index count) {
  return a_changes_[l].matrix(layer(l).outputs, examples_ * count);
}
template <class T>
MatrixView<T> HessianProducts<T>::e_change(std::size_t l, Index count) {
  return e_changes_[l % 2].matrix(layer(l).outputs, examples_ * count);
}

template <class T>
void HessianProducts<T>::assign(ConstMatrixView<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> y) {
  reserve(x.cols, std::max<Index>(directions_, 1));
  theta_ = theta;
  examples_ = x.cols;
  const Likelihood& likelihood = network_.likelihood;
  const Index outputs = network_.outputs();
  const auto f = z_change(last(), 1);  // not needed yet
  network_.forward(theta, x, tape_, f);
  check_outputs_finite<T>(f);
  for (Index i = 0; i < examples_; ++i) {
    likelihood.gradient(f.column_data(i), y.column_data(i), tape_.sensitivities[last()].data() + i * outputs);
    likelihood.hessian_terms(f.column_data(i), y.column_data(i), terms_.data() + i * outputs);
  }
  network_.backward(theta, tape_, 1);
  for (std::size_t l = 0; l < last(); ++l) {
    const auto back = e_change(l, 1), curvature = tape_.curvatures[l].matrix(layer(l).outputs, examples_);
    gemm(Op::none, Op::none, T(1), weight_t(l + 1), sensitivity(l + 1), T(0), back);
    scale_each<T>(back, 1, curvature.data, curvature.data);
  }
}

/// R{z} = W R{a} + V a + c.
template <class T>
void HessianProducts<T>::change_weights(std::size_t l, ConstMatrixView<T> v) {
  const DenseLayer& part = layer(l);
  const auto z = z_change(l, v.cols);
  if (l > 0) gemm(Op::transpose, Op::none, T(1), weight_t(l), a_change(l - 1, v.cols), T(0), z);
  for (Index k = 0; k < v.cols; ++k) {
    const ConstMatrixView<T> v_t(v.column_data(k) + part.weight_offset, part.inputs, part.outputs);
    const auto columns = z.columns(k * examples_, examples_);
    gemm(Op::transpose, Op::none, T(1), v_t, input(l), T(l > 0 ? 1 : 0), columns);
    if (part.bias_offset < 0) continue;
    const T* bias = v.column_data(k) + part.bias_offset;
    for (Index i = 0; i < examples_; ++i)
      for (Index o = 0; o < part.outputs; ++o) columns(o, i) += bias[o];
  }
}

/// R{a} = phi' ∘ R{z}.
template <class T>
void HessianProducts<T>::change_activations(std::size_t l, Index count) {
  scale_each<T>(tape_.derivatives[l].matrix(layer(l).outputs, examples_), count, z_change(l, count).data,
                a_change(l, count).data);
}

/// R{E} at the outputs: the likelihood's Hessian times R{f}.
template <class T>
void HessianProducts<T>::change_output_gradient(Index count) {
  const auto f = z_change(last(), count), e = e_change(last(), count);
  const Index outputs = network_.outputs();
  parallel_blocks(f.cols, task_grain(4 * outputs), [&](Index first, Index size) noexcept {
    for (Index j = first; j < first + size; ++j)
      network_.likelihood.hessian_product(terms_.data() + j % examples_ * outputs, f.column_data(j),
                                          e.column_data(j));
  });
}

/// R{E} of layer l - 1 = phi' ∘ (W^T R{E} + V^T E) + phi'' ∘ R{z} ∘ W^T E; without directions V = 0.
template <class T>
void HessianProducts<T>::change_sensitivities(std::size_t l, ConstMatrixView<T> v, Index count) {
  const DenseLayer& part = layer(l);
  const auto inner = e_change(l - 1, count);
  gemm(Op::none, Op::none, T(1), weight_t(l), e_change(l, count), T(0), inner);
  for (Index k = 0; k < v.cols; ++k)
    gemm(Op::none, Op::none, T(1),
         ConstMatrixView<T>(v.column_data(k) + part.weight_offset, part.inputs, part.outputs), sensitivity(l),
         T(1), inner.columns(k * examples_, examples_));
  const Index size = part.inputs * examples_;
  const T *slope = tape_.derivatives[l - 1].data(), *curvature = tape_.curvatures[l - 1].data();
  for (Index k = 0; k < count; ++k) {
    const T* z = z_changes_[l - 1].data() + k * size;
    T* e = inner.data + k * size;
    for_each_index(size, [=](Index i) BDL_INLINE_LAMBDA { e[i] = slope[i] * e[i] + curvature[i] * z[i]; });
  }
}

/// The layer's part of H V: R{E} a^T + E R{a}^T, and the sums of R{E} for the bias.
template <class T>
void HessianProducts<T>::write_products(std::size_t l, MatrixView<T> out) {
  const DenseLayer& part = layer(l);
  for (Index k = 0; k < out.cols; ++k) {
    const auto e = e_change(l, out.cols).columns(k * examples_, examples_);
    const MatrixView<T> to(out.column_data(k) + part.weight_offset, part.inputs, part.outputs);
    gemm(Op::none, Op::transpose, T(1), input(l), e, T(0), to);
    if (l > 0)
      gemm(Op::none, Op::transpose, T(1), a_change(l - 1, out.cols).columns(k * examples_, examples_),
           sensitivity(l), T(1), to);
    if (part.bias_offset >= 0) row_sums(e, out.column_data(k) + part.bias_offset);
  }
}

template <class T>
void HessianProducts<T>::multiply(ConstMatrixView<T> v, MatrixView<T> out) {
  for (std::size_t l = 0; l <= last(); ++l) {
    change_weights(l, v);
    if (l < last()) change_activations(l, v.cols);
  }
  change_output_gradient(v.cols);
  for (std::size_t l = last(); l > 0; --l) {
    write_products(l, out);
    change_sensitivities(l, v, v.cols);
  }
  write_products(0, out);
}

/// second_ = d^2 L / dz^2 of the last layer.
template <class T>
void HessianProducts<T>::output_curvatures() {
  const Index outputs = network_.outputs();
  for (Index i = 0; i < examples_; ++i)
    for (Index c = 0; c < outputs; ++c)
      second_.data()[i * outputs + c] =
          static_cast<T>(network_.likelihood.hessian_entry(terms_.data() + i * outputs, c, c));
}

/// second_ = d^2 L / dz^2 of hidden layer l: its units are the directions, the same for all examples.
template <class T>
void HessianProducts<T>::unit_curvatures(std::size_t l) {
  const Index units = layer(l).outputs;
  for (Index first = 0; first < units; first += directions_) {
    const Index count = std::min(directions_, units - first);
    const auto z = z_change(l, count);
    std::fill_n(z.data, z.size(), T(0));
    for (Index j = 0; j < z.cols; ++j) z(first + j / examples_, j) = 1;
    change_activations(l, count);
    for (std::size_t outer = l + 1; outer <= last(); ++outer) {
      gemm(Op::transpose, Op::none, T(1), weight_t(outer), a_change(outer - 1, count), T(0),
           z_change(outer, count));
      if (outer < last()) change_activations(outer, count);
    }
    change_output_gradient(count);
    for (std::size_t outer = last(); outer > l; --outer) change_sensitivities(outer, {}, count);
    const auto e = e_change(l, count);
    for (Index j = 0; j < e.cols; ++j) {
      const Index unit = first + j / examples_;
      second_.data()[j % examples_ * units + unit] = e(unit, j);
    }
  }
}

template <class T>
void HessianProducts<T>::add_layer_diagonal(std::size_t l, double factor, std::span<double> sums) {
  const DenseLayer& part = layer(l);
  const auto a = input(l);
  const auto squares = squares_.matrix(part.inputs, examples_),
             second = second_.matrix(part.outputs, examples_);
  for (Index j = 0; j < examples_; ++j)
    for (Index i = 0; i < part.inputs; ++i) squares(i, j) = a(i, j) * a(i, j);
  const auto add = [&](Index offset, Index size) {
    double* to = sums.data() + offset;
    const T* from = products_.data();
    for (Index i = 0; i < size; ++i) to[i] += factor * static_cast<double>(from[i]);
  };
  gemm(Op::none, Op::transpose, T(1), squares, second, T(0), products_.matrix(part.inputs, part.outputs));
  add(part.weight_offset, part.inputs * part.outputs);
  if (part.bias_offset < 0) return;
  row_sums(second, products_.data());
  add(part.bias_offset, part.outputs);
}

template <class T>
void HessianProducts<T>::add_diagonal(double factor, std::span<double> sums) {
  output_curvatures();
  add_layer_diagonal(last(), factor, sums);
  for (std::size_t l = 0; l < last(); ++l) {
    unit_curvatures(l);
    add_layer_diagonal(l, factor, sums);
  }
}

template class HessianProducts<float>;
template class HessianProducts<double>;

}  // namespace bdl
