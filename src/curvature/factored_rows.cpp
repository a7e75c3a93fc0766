#include "curvature/factored_rows.hpp"

#include <algorithm>

#include "base/profile.hpp"
#include "curvature/dense_rows.hpp"
#include "linalg/blas/blas.hpp"
#include "linalg/blas/vector_kernels.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

struct ScratchSizes {
  Index folded = 0, inputs = 0;
};

/// Columns whose products share one loop over the threads, for matrices of `size` numbers each.
Index columns_together(Index size) {
  return std::clamp<Index>((1 << 19) / std::max<Index>(1, size), 2, 16);
}

ScratchSizes scratch_sizes(const std::vector<DenseShape>& layers, Index examples, Index samples) {
  ScratchSizes sizes;
  for (const DenseShape& layer : layers) {
    const Index inputs = layer.of_data ? examples : examples * samples, size = layer.outputs * inputs;
    sizes.folded = std::max(sizes.folded, columns_together(size) * size);
    sizes.inputs = std::max(sizes.inputs, layer.inputs * inputs);
  }
  return sizes;
}

double as_double(Index value) {
  return static_cast<double>(value);
}

}  // namespace

template <class T>
Index FactoredRows<T>::bytes(const std::vector<DenseShape>& layers, Index examples, Index samples) {
  const ScratchSizes sizes = scratch_sizes(layers, examples, samples);
  return static_cast<Index>(sizeof(T)) * (sizes.folded + sizes.inputs);
}

template <class T>
void FactoredRows<T>::reserve(const std::vector<DenseShape>& layers, Index examples, Index samples) {
  const ScratchSizes sizes = scratch_sizes(layers, examples, samples);
  layers_.reserve(layers.size());
  folded_.reserve(sizes.folded);
  inputs_.reserve(sizes.inputs);
}

template <class T>
void FactoredRows<T>::assign(const Graph<T>& graph, const Tape<T>& tape, Index seeds) {
  reserve(graph.dense(), tape.examples, tape.samples);
  view(graph, tape, seeds);
}

template <class T>
void FactoredRows<T>::view(const Graph<T>& graph, const Tape<T>& tape, Index seeds) {
  const auto& layers = graph.dense();
  cost_ = cost(layers, tape.examples, tape.samples, seeds);
  dimension_ = graph.parameters();
  count_ = tape.examples * tape.samples * seeds;
  layers_.clear();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto& node = graph.nodes()[static_cast<std::size_t>(graph.dense_nodes()[l])];
    layers_.push_back({graph.values(tape, node.in), graph.sensitivities(tape, node.out, count_), layers[l]});
  }
}

template <class T>
void FactoredRows<T>::assign_single(const Graph<T>& graph, ConstMatrixView<T> a, ConstMatrixView<T> e) {
  reserve(graph.dense(), e.cols, 1);
  cost_ = cost(graph.dense(), e.cols, 1, 1);
  dimension_ = graph.parameters();
  count_ = e.cols;
  layers_.clear();
  layers_.push_back({a, e, graph.dense().front()});
}

/// diag(w_k) E (or E∘E) for each column w_k of the weights, rows that share an input added up: matrices of
/// outputs x a.cols, one below the other in folded_.
template <class T>
void FactoredRows<T>::fold(const LayerRows<T>& rows, ConstMatrixView<T> weights, bool squared) {
  const Index outputs = rows.e.rows, inputs = rows.a.cols, repeats = rows.e.cols / inputs;
  folded_.reserve(outputs * inputs * weights.cols);
  parallel_blocks(
      weights.cols * inputs, task_grain(outputs * repeats), [&](Index begin, Index size) noexcept {
        with_simd([&](auto) BDL_INLINE_LAMBDA {
          for (Index column = begin; column < begin + size; ++column) {
            const T* w = weights.column_data(column / inputs) + column % inputs;
            const T* e = rows.e.column_data(column % inputs);
            T* to = folded_.data() + column * outputs;
            for (Index repeat = 0; repeat < repeats; ++repeat, w += inputs, e += inputs * rows.e.ld)
              for (Index o = 0; o < outputs; ++o) {
                const T term = squared ? *w * e[o] * e[o] : *w * e[o];
                to[o] = repeat == 0 ? term : to[o] + term;
              }
          }
        });
      });
}

/// A (folded E)^T into the weight blocks of `out`, and the row sums of folded E into its bias blocks.
template <class T>
void FactoredRows<T>::weighted_products(const LayerRows<T>& rows, ConstMatrixView<T> a,
                                        ConstMatrixView<T> weights, bool squared, MatrixView<T> out) {
  const DenseShape& layer = rows.layer;
  const Index size = layer.outputs * a.cols;
  fold(rows, weights, squared);
  if (layer.outputs == 1)  // the columns of `out` are one matrix
    gemm(Op::none, Op::none, T(1), a, folded_.matrix(a.cols, weights.cols), T(0),
         MatrixView<T>(out.data + layer.weight_offset, layer.inputs, weights.cols, out.ld));
  for (Index k = 0; k < weights.cols; ++k) {
    const ConstMatrixView<T> e(folded_.data() + k * size, layer.outputs, a.cols);
    if (layer.outputs > 1)
      gemm(Op::none, Op::transpose, T(1), a, e, T(0),
           MatrixView<T>(out.column_data(k) + layer.weight_offset, layer.inputs, layer.outputs));
    if (layer.bias_offset >= 0) row_sums(e, out.column_data(k) + layer.bias_offset);
  }
}

template <class T>
void FactoredRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count_, 1}, {out.data(), dimension_, 1});
}

template <class T>
void FactoredRows<T>::sum_part(Index part, Index parts, ConstSpan<T> c, std::span<T> out) {
  const Index size = count_ / parts, first = part * size;
  for (const auto& rows : layers_) {
    const ConstMatrixView<T> a = rows.a.columns(first % rows.a.cols, size);
    weighted_products({a, rows.e.columns(first, size), rows.layer}, a, {c.data() + first, size, 1}, false,
                      {out.data(), dimension_, 1});
  }
}

template <class T>
void FactoredRows<T>::square_inputs(const LayerRows<T>& rows, MatrixView<T> out) {
  parallel_blocks(rows.a.cols, task_grain(rows.a.rows), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j)
      for (Index i = 0; i < rows.a.rows; ++i) out(i, j) = rows.a(i, j) * rows.a(i, j);
  });
}

template <class T>
void FactoredRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  const StageTimer timer(Stage::sums);
  for (const auto& rows : layers_) {
    inputs_.reserve(rows.a.size());
    const auto squares = inputs_.matrix(rows.a.rows, rows.a.cols);
    square_inputs(rows, squares);
    weighted_products(rows, squares, {w.data(), count_, 1}, true, {out.data(), dimension_, 1});
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
    if (inputs < count_) mirror_lower(aa);
    const double bias = rows.layer.bias_offset < 0 ? 0 : 1;
    parallel_blocks(count_, task_grain(count_), [&](Index begin, Index size) noexcept {
      with_simd([&](auto) BDL_INLINE_LAMBDA {
        for (Index s = begin; s < begin + size; ++s)
          // Runs of rows with distinct inputs.
          for (Index first = s - s % inputs; first < count_; first += inputs) {
            const Index from = std::max(first, s), length = first + inputs - from;
            const T* a = aa.column_data(s % inputs) + (from - first);
            const T* e = ee.column_data(s) + from;
            double* to = out.column_data(s) + from;
            for (Index r = 0; r < length; ++r) {
              const double term = (static_cast<double>(a[r]) + bias) * static_cast<double>(e[r]);
              to[r] = l == 0 ? term : to[r] + term;
            }
          }
      });
    });
  }
}

/// project(u)_r = rowsum((A u^T) ∘ E): one product with A per column of U and layer.
template <class T>
void FactoredRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  const StageTimer timer(Stage::project);
  for (const auto& rows : layers_) {
    const Index together = columns_together(rows.e.rows * rows.a.cols);
    for (Index first = 0; first < u.cols; first += together) {
      const Index count = std::min(together, u.cols - first);
      project(rows, u.columns(first, count), &rows != &layers_.front(), out.block(first, 0, count, count_));
    }
  }
}

template <class T>
void FactoredRows<T>::project(const LayerRows<T>& rows, ConstMatrixView<T> u, bool add, MatrixView<T> out) {
  const DenseShape& layer = rows.layer;
  const Index inputs = rows.a.cols, size = layer.outputs * inputs;
  folded_.reserve(size * u.cols);
  if (layer.outputs == 1)  // the columns of U are one matrix
    gemm(Op::transpose, Op::none, T(1), rows.a,
         ConstMatrixView<T>(u.data + layer.weight_offset, layer.inputs, u.cols, u.ld), T(0),
         folded_.matrix(inputs, u.cols));
  for (Index k = 0; k < u.cols && layer.outputs > 1; ++k)
    gemm(Op::transpose, Op::none, T(1),
         ConstMatrixView<T>(u.column_data(k) + layer.weight_offset, layer.inputs, layer.outputs), rows.a,
         T(0), MatrixView<T>(folded_.data() + k * size, layer.outputs, inputs));
  parallel_blocks(count_, task_grain(layer.outputs * u.cols), [&](Index begin, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index r = begin; r < begin + count; ++r)
        for (Index k = 0; k < u.cols; ++k) {
          const T* e = rows.e.column_data(r);
          T value = dot<width()>(e, folded_.data() + k * size + r % inputs * layer.outputs, layer.outputs);
          if (layer.bias_offset >= 0)
            value += dot<width()>(e, u.column_data(k) + layer.bias_offset, layer.outputs);
          out(k, r) = add ? out(k, r) + value : value;
        }
    });
  });
}

template <class T>
void FactoredRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  for (const auto& rows : layers_) {
    const Index together = columns_together(rows.e.rows * rows.a.cols);
    for (Index first = 0; first < w.cols; first += together) {
      const Index count = std::min(together, w.cols - first);
      weighted_products(rows, rows.a, w.columns(first, count), false, out.columns(first, count));
    }
  }
}

template <class T>
void FactoredRows<T>::write_row(Index r, std::span<T> out) const {
  for (const auto& rows : layers_) {
    const T* a = rows.a.column_data(r % rows.a.cols);
    const T* e = rows.e.column_data(r);
    const DenseShape& layer = rows.layer;
    for (Index o = 0; o < layer.outputs; ++o) {
      T* to = out.data() + layer.weight_offset + o * layer.inputs;
      for (Index i = 0; i < layer.inputs; ++i) to[i] = e[o] * a[i];
      if (layer.bias_offset >= 0) out[static_cast<std::size_t>(layer.bias_offset + o)] = e[o];
    }
  }
}

/// Some rows at a time, written out.
template <class T>
void FactoredRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  const Index most = std::min(most_outer_rows, count_);
  product_.reserve(dimension_ * most);
  for (Index first = 0; first < count_; first += most) {
    const auto rows = product_.matrix(dimension_, std::min(most, count_ - first));
    for (Index r = 0; r < rows.cols; ++r) write_row(first + r, rows.column(r));
    add_weighted_outer<T>(rows, w.subspan(static_cast<std::size_t>(first)), out, outer_);
  }
}

template <class T>
RowsCost FactoredRows<T>::cost(const std::vector<DenseShape>& layers, Index examples, Index samples,
                               Index seeds) {
  const Index count = examples * samples * seeds;
  const double n = as_double(count);
  RowsCost cost{count, 0, 0, 2 * count * count * static_cast<Index>(sizeof(T))};
  for (const DenseShape& layer : layers) {
    const double inputs = as_double(layer.of_data ? examples : examples * samples);
    cost.gram_flops += n * n * as_double(layer.outputs) + inputs * inputs * as_double(layer.inputs);
    cost.product_flops += 2 * inputs * as_double(layer.inputs) * as_double(layer.outputs);
  }
  return cost;
}

template class FactoredRows<float>;
template class FactoredRows<double>;

}  // namespace bdl
