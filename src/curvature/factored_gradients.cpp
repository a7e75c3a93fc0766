// Gradients of single examples from the rows of a network: sums over seeds of outer products with the same
// inputs are outer products again, g_j = (sum_k z_r e_r) a_j^T.
#include <algorithm>

#include "curvature/factored_rows.hpp"
#include "linalg/blas/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// out = sum_k z_r e_r over r = j, j + n, ...
template <class T>
void add_seeds(ConstMatrixView<T> e, ConstSpan<T> z, Index j, Index n, T* out) {
  for (Index r = j; r < e.cols; r += n) {
    const T* seed = e.column_data(r);
    const T factor = z[static_cast<std::size_t>(r)];
    for (Index o = 0; o < e.rows; ++o) out[o] = r == j ? factor * seed[o] : out[o] + factor * seed[o];
  }
}

/// sum_o y_o (sum_k z_r e_ro)^2.
template <class T>
T weighted_square(ConstMatrixView<T> e, ConstSpan<T> z, Index j, Index n, const T* y, const T* bias) {
  T sum = 0;
  for (Index o = 0; o < e.rows; ++o) {
    T seed = 0;
    for (Index r = j; r < e.cols; r += n) seed += z[static_cast<std::size_t>(r)] * e(o, r);
    sum += (y[o] + (bias ? bias[o] : T(0))) * seed * seed;
  }
  return sum;
}

}  // namespace

/// sum over layers of (sum_k z E)^2 . (V A^2 + v_bias), V the layer's share of v as a matrix.
template <class T>
void FactoredRows<T>::gradient_squares(ConstSpan<T> z, ConstSpan<T> v, std::span<double> out) {
  const auto n = static_cast<Index>(out.size());
  for (const auto& rows : layers_) {
    const DenseShape& layer = rows.layer;
    const auto squares = inputs_.matrix(rows.a.rows, rows.a.cols);
    square_inputs(rows, squares);
    const auto weighted = folded_.matrix(layer.outputs, rows.a.cols);
    gemm(Op::transpose, Op::none, T(1),
         ConstMatrixView<T>(v.data() + layer.weight_offset, layer.inputs, layer.outputs), squares, T(0),
         weighted);
    const T* bias = layer.bias_offset < 0 ? nullptr : v.data() + layer.bias_offset;
    const bool add = &rows != &layers_.front();
    parallel_blocks(n, task_grain(rows.e.rows * (rows.e.cols / n)), [&](Index first, Index count) noexcept {
      for (Index j = first; j < first + count; ++j) {
        const auto square = static_cast<double>(
            weighted_square(rows.e, z, j, n, weighted.column_data(j % rows.a.cols), bias));
        double& to = out[static_cast<std::size_t>(j)];
        to = add ? to + square : square;
      }
    });
  }
}

template <class T>
Index FactoredRows<T>::gradient_bytes(const std::vector<DenseShape>& layers, Index count) {
  Index numbers = 0;
  for (const DenseShape& layer : layers) numbers += (layer.inputs + layer.outputs) * count;
  return bytes(layers, count, 1) + numbers * static_cast<Index>(sizeof(T));
}

template <class T>
void FactoredRows<T>::reserve_gradients(Index count) {
  if (!gradients_) gradients_ = std::make_unique<FactoredRows>();
  factors_.resize(2 * layers_.size());
  std::vector<DenseShape>& layers = gradients_->shapes_;
  layers.clear();
  for (const auto& rows : layers_) layers.push_back(rows.layer);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    factors_[2 * l].reserve(layers_[l].a.rows * count);
    factors_[2 * l + 1].reserve(layers_[l].e.rows * count);
  }
  gradients_->reserve(layers, count, 1);
}

template <class T>
ExampleRows<T>& FactoredRows<T>::gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) {
  const auto count = static_cast<Index>(which.size());
  reserve_gradients(count);
  FactoredRows& to = *gradients_;
  to.dimension_ = dimension_;
  to.count_ = count;
  to.cost_ = cost(to.shapes_, count, 1, 1);
  to.layers_.clear();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const LayerRows<T>& from = layers_[l];
    const auto a = factors_[2 * l].matrix(from.a.rows, count),
               e = factors_[2 * l + 1].matrix(from.e.rows, count);
    for (Index m = 0; m < count; ++m) {
      const Index j = which[static_cast<std::size_t>(m)];
      std::ranges::copy(from.a.column(j % from.a.cols), a.column_data(m));
      add_seeds(from.e, z, j, n, e.column_data(m));
    }
    to.layers_.push_back({a, e, from.layer});
  }
  return to;
}

template class FactoredRows<float>;
template class FactoredRows<double>;

}  // namespace bdl
