#include "curvature/factored_rows.hpp"

#include <algorithm>

#include "base/profile.hpp"
#include "curvature/dense_rows.hpp"
#include "linalg/blas.hpp"

namespace bdl {
namespace {

struct ScratchSizes {
  Index folded = 0, inputs = 0;
};

ScratchSizes scratch_sizes(const std::vector<DenseLayer>& layers, Index examples, Index samples) {
  ScratchSizes sizes;
  Index inputs = examples;
  for (const DenseLayer& layer : layers) {
    sizes.folded = std::max(sizes.folded, layer.outputs * inputs);
    sizes.inputs = std::max(sizes.inputs, layer.inputs * inputs);
    inputs = examples * samples;
  }
  return sizes;
}

double as_double(Index value) {
  return static_cast<double>(value);
}

}  // namespace

template <class T>
Index FactoredRows<T>::bytes(const std::vector<DenseLayer>& layers, Index examples, Index samples) {
  const ScratchSizes sizes = scratch_sizes(layers, examples, samples);
  return static_cast<Index>(sizeof(T)) * (sizes.folded + sizes.inputs);
}

template <class T>
void FactoredRows<T>::reserve(const std::vector<DenseLayer>& layers, Index examples, Index samples) {
  const ScratchSizes sizes = scratch_sizes(layers, examples, samples);
  layers_.reserve(layers.size());
  folded_.reserve(sizes.folded);
  inputs_.reserve(sizes.inputs);
}

template <class T>
void FactoredRows<T>::assign(const Network<T>& network, const Tape<T>& tape, Index seeds) {
  const auto& layers = network.layers();
  reserve(layers, tape.examples, tape.samples);
  cost_ = cost(layers, tape.examples, tape.samples, seeds);
  dimension_ = network.parameters();
  count_ = tape.examples * tape.samples * seeds;
  layers_.clear();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const ConstMatrixView<T> a =
        l == 0 ? tape.x : tape.activations[l - 1].matrix(layers[l].inputs, tape.examples * tape.samples);
    layers_.push_back({a, tape.sensitivities[l].matrix(layers[l].outputs, count_), layers[l]});
  }
}

template <class T>
void FactoredRows<T>::assign_single(const Network<T>& network, ConstMatrixView<T> a, ConstMatrixView<T> e) {
  reserve(network.layers(), e.cols, 1);
  cost_ = cost(network.layers(), e.cols, 1, 1);
  dimension_ = network.parameters();
  count_ = e.cols;
  layers_.clear();
  layers_.push_back({a, e, network.layers().front()});
}

/// diag(w) E (or E∘E), rows that share an input added up: outputs x a.cols.
template <class T>
MatrixView<T> FactoredRows<T>::folded(const LayerRows<T>& rows, ConstSpan<T> weights, bool squared) {
  const auto out = folded_.matrix(rows.e.rows, rows.a.cols);
  for (Index r = 0; r < count_; ++r) {
    const T* e = rows.e.column_data(r);
    T* to = out.column_data(r % rows.a.cols);
    const T w = weights[static_cast<std::size_t>(r)];
    const bool first = r < rows.a.cols;
    for (Index o = 0; o < rows.e.rows; ++o) {
      const T term = squared ? w * e[o] * e[o] : w * e[o];
      to[o] = first ? term : to[o] + term;
    }
  }
  return out;
}

/// A (folded E)^T into the weight block of `out`, and the row sums of folded E into the bias block.
template <class T>
void FactoredRows<T>::weighted_product(const LayerRows<T>& rows, ConstMatrixView<T> a, ConstSpan<T> weights,
                                       bool squared, std::span<T> out) {
  const auto e = folded(rows, weights, squared);
  const DenseLayer& layer = rows.layer;
  gemm(Op::none, Op::transpose, T(1), a, e, T(0),
       MatrixView<T>(out.data() + layer.weight_offset, layer.inputs, layer.outputs));
  if (layer.bias_offset < 0) return;
  T* bias = out.data() + layer.bias_offset;
  std::fill_n(bias, layer.outputs, T(0));
  for (Index r = 0; r < e.cols; ++r)
    for (Index o = 0; o < e.rows; ++o) bias[o] += e(o, r);
}

template <class T>
void FactoredRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  for (const auto& rows : layers_) weighted_product(rows, rows.a, c, false, out);
}

template <class T>
void FactoredRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  const StageTimer timer(Stage::sums);
  for (const auto& rows : layers_) {
    const auto squares = inputs_.matrix(rows.a.rows, rows.a.cols);
    for (Index j = 0; j < rows.a.cols; ++j)
      for (Index i = 0; i < rows.a.rows; ++i) squares(i, j) = rows.a(i, j) * rows.a(i, j);
    weighted_product(rows, squares, w, true, out);
  }
}

/// (A^T A + bias) ∘ (E^T E), summed over layers in double.
template <class T>
void FactoredRows<T>::gram(MatrixView<double> out) {
  product_.reserve(2 * count_ * count_);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& rows = layers_[l];
    const Index inputs = rows.a.cols;
    const auto ee = product_.matrix(count_, count_);
    const MatrixView<T> aa(product_.data() + count_ * count_, inputs, inputs);
    syrk(Op::transpose, T(1), rows.e, T(0), ee);
    syrk(Op::transpose, T(1), rows.a, T(0), aa);
    mirror_lower(aa);
    const double bias = rows.layer.bias_offset < 0 ? 0 : 1;
    for (Index s = 0; s < count_; ++s) {
      const T* column = aa.column_data(s % inputs);
      for (Index first = s - s % inputs; first < count_;
           first += inputs)  // runs of rows with distinct inputs
        for (Index r = std::max(first, s); r < first + inputs; ++r) {
          const double term = (static_cast<double>(column[r - first]) + bias) * static_cast<double>(ee(r, s));
          out(r, s) = l == 0 ? term : out(r, s) + term;
        }
    }
  }
}

/// project(u)_r = rowsum((A u^T) ∘ E): one product with A per column of U and layer.
template <class T>
void FactoredRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  const StageTimer timer(Stage::project);
  for (Index k = 0; k < u.cols; ++k)
    for (const auto& rows : layers_) {
      const DenseLayer& layer = rows.layer;
      const auto t = folded_.matrix(layer.outputs, rows.a.cols);
      const ConstMatrixView<T> weight(u.column_data(k) + layer.weight_offset, layer.inputs, layer.outputs);
      const T* bias = layer.bias_offset < 0 ? nullptr : u.column_data(k) + layer.bias_offset;
      for (Index j = 0; bias && j < t.cols; ++j) std::copy_n(bias, layer.outputs, t.column_data(j));
      gemm(Op::transpose, Op::none, T(1), weight, rows.a, bias ? T(1) : T(0), t);
      for (Index r = 0; r < count_; ++r) {
        const T* e = rows.e.column_data(r);
        const T* f = t.column_data(r % t.cols);
        T dot = 0;
        for (Index o = 0; o < layer.outputs; ++o) dot += e[o] * f[o];
        out(k, r) = &rows == &layers_.front() ? dot : out(k, r) + dot;
      }
    }
}

template <class T>
void FactoredRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  for (Index k = 0; k < w.cols; ++k) sum(w.column(k), out.column(k));
}

/// Row by row: the D x D family is for small D.
template <class T>
void FactoredRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  product_.reserve(dimension_);
  const std::span<T> row = product_.first(dimension_);
  for (Index r = 0; r < count_; ++r) {
    for (const auto& rows : layers_) {
      const T* a = rows.a.column_data(r % rows.a.cols);
      const T* e = rows.e.column_data(r);
      const DenseLayer& layer = rows.layer;
      for (Index o = 0; o < layer.outputs; ++o) {
        T* to = row.data() + layer.weight_offset + o * layer.inputs;
        for (Index i = 0; i < layer.inputs; ++i) to[i] = e[o] * a[i];
        if (layer.bias_offset >= 0) row[static_cast<std::size_t>(layer.bias_offset + o)] = e[o];
      }
    }
    add_weighted_outer<T>(MatrixView<T>(row.data(), dimension_, 1), w.subspan(static_cast<std::size_t>(r), 1),
                          out);
  }
}

template <class T>
RowsCost FactoredRows<T>::cost(const std::vector<DenseLayer>& layers, Index examples, Index samples,
                               Index seeds) {
  const Index count = examples * samples * seeds;
  const double n = as_double(count);
  RowsCost cost{count, 0, 0, 2 * count * count * static_cast<Index>(sizeof(T))};
  double inputs = as_double(examples);
  for (const DenseLayer& layer : layers) {
    cost.gram_flops += n * n * as_double(layer.outputs) + inputs * inputs * as_double(layer.inputs);
    cost.product_flops += 2 * inputs * as_double(layer.inputs) * as_double(layer.outputs);
    inputs = as_double(examples * samples);
  }
  return cost;
}

template class FactoredRows<float>;
template class FactoredRows<double>;

}  // namespace bdl
