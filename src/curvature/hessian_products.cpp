#include "curvature/hessian_products.hpp"

#include <algorithm>

#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
template <class T>
HessianProducts<T>::HessianProducts(const Model<T>& model)
    : model_(model), graph_(*model.graph()), moved_(graph_.wires()), written_(graph_.wires()) {
  tape_.keeps_curvatures = true;
}

template <class T>
void HessianProducts<T>::reserve(Index examples, Index directions) {
  changes_.resize(graph_.wires());
  e_changes_.resize(at(graph_.places()));
  for (std::size_t w = 0; w < graph_.wires(); ++w) {
    const auto& wire = graph_.wire(static_cast<Index>(w));
    if (wire.is_learned) changes_[w].reserve(wire.size * examples * directions);
  }
  for (Index p = 0; p < graph_.places(); ++p)
    e_changes_[at(p)].reserve(graph_.place_size(p) * examples * directions);
  terms_.reserve(graph_.outputs() * examples);
  weights_.reserve(examples);
  squares_.reserve(most([](const DenseShape& shape) { return shape.inputs; }) * examples);
  second_.reserve(most([](const DenseShape& shape) { return shape.outputs; }) * examples);
  products_.reserve(most([](const DenseShape& shape) { return std::max(shape.weights(), shape.outputs); }));
  directions_ = directions;
}

template <class T>
Index HessianProducts<T>::most(Index (*of)(const DenseShape&)) const {
  Index most = 0;
  for (const DenseShape& shape : graph_.dense()) most = std::max(most, of(shape));
  return most;
}

template <class T>
auto HessianProducts<T>::dense_node(std::size_t k) const -> const Node& {
  return graph_.nodes()[node_number(k)];
}
template <class T>
MatrixView<T> HessianProducts<T>::change(Index wire, Index count) {
  return changes_[at(wire)].matrix(graph_.wire(wire).size, examples_ * count);
}
template <class T>
ConstMatrixView<T> HessianProducts<T>::change_if_moved(Index wire, Index count) {
  return is_moved(wire) ? ConstMatrixView<T>(change(wire, count)) : ConstMatrixView<T>();
}
template <class T>
MatrixView<T> HessianProducts<T>::e_change(Index wire, Index count) {
  return e_changes_[at(graph_.wire(wire).place)].matrix(graph_.wire(wire).size, examples_ * count);
}

template <class T>
void HessianProducts<T>::assign(ConstMatrixView<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> y) {
  reserve(x.cols, std::max<Index>(directions_, 1));
  theta_ = theta;
  examples_ = x.cols;
  const Likelihood& likelihood = model_.likelihood;
  const Index outputs = graph_.outputs();
  const auto f = change(graph_.output(), 1);  // the outputs, in memory that changes do not need yet
  graph_.forward(theta, x, tape_, f);
  check_outputs_finite<T>(f);
  const auto e = graph_.seeds(tape_, examples_);
  for (Index i = 0; i < examples_; ++i) {
    likelihood.gradient(f.column_data(i), y.column_data(i), e.column_data(i));
    likelihood.hessian_terms(f.column_data(i), y.column_data(i), terms_.data() + i * outputs);
    weights_.data()[i] = static_cast<T>(likelihood.weight(y.column_data(i)));
    for (T& seed : e.column(i)) seed *= weights_.data()[i];
  }
  graph_.backward(theta, tape_, 1);
}

/// Computes how the wires from node `first` on change along the directions; the changes of earlier wires are
/// given.
template <class T>
void HessianProducts<T>::move_forward(std::size_t first, const Directions<T>& directions) {
  const Index count = directions.count;
  for (std::size_t n = first; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    const bool moves_itself = node.layer && node.layer->dense() && directions.v.cols > 0;
    const bool other_moves = node.other >= 0 && is_moved(node.other);
    moved_[at(node.out)] = moves_itself || is_moved(node.in) || other_moves;
    if (!is_moved(node.out)) continue;
    const auto out = change(node.out, count);
    if (node.layer) {
      const auto in = node.layer->is_elementwise() ? ConstMatrixView<T>() : value(node.in);
      node.layer->change(directions, graph_.kept(tape_, n, 0), in, change_if_moved(node.in, count), out);
      continue;
    }
    if (is_moved(node.in)) pass_on<T>(change(node.in, count), false, out);
    if (other_moves) pass_on<T>(change(node.other, count), is_moved(node.in), out);
  }
}

/// Computes R{E} of the wires that change, back to the one that node `first` reads.
template <class T>
void HessianProducts<T>::move_backward(std::size_t first, const Directions<T>& directions) {
  const Index count = directions.count;
  std::fill(written_.begin(), written_.end(), false);
  const auto begin = [&](Index wire) {
    const bool add = written_[at(wire)];
    written_[at(wire)] = true;
    return add;
  };
  for (std::size_t n = graph_.nodes().size(); n-- > first;) {
    const Node& node = graph_.nodes()[n];
    if (!is_moved(node.out)) continue;
    const auto e = e_change(node.out, count);
    if (!node.layer && is_moved(node.other)) pass_on<T>(e, begin(node.other), e_change(node.other, count));
    if (!is_moved(node.in)) continue;
    const auto to = e_change(node.in, count);
    if (!node.layer)
      pass_on<T>(e, begin(node.in), to);
    else
      node.layer->change_back(directions, graph_.kept(tape_, n, 0), change_if_moved(node.in, count),
                              sensitivity(node.out), e, begin(node.in), to);
  }
}

/// Computes R{E} at the outputs: the likelihood's Hessian times R{f}.
template <class T>
void HessianProducts<T>::change_output_gradient(Index count) {
  const auto f = change(graph_.output(), count), e = e_change(graph_.output(), count);
  const Index outputs = graph_.outputs();
  parallel_blocks(f.cols, task_grain(4 * outputs), [&](Index first, Index size) noexcept {
    for (Index j = first; j < first + size; ++j) {
      model_.likelihood.hessian_product(terms_.data() + j % examples_ * outputs, f.column_data(j),
                                        e.column_data(j));
      for (T& seed : e.column(j)) seed *= weights_.data()[j % examples_];
    }
  });
}

/// Writes a layer's block of H V: R{E} a^T + E R{a}^T, and the sums of R{E} for the bias.
template <class T>
void HessianProducts<T>::write_products(std::size_t k, MatrixView<T> out) {
  const DenseShape& shape = graph_.dense()[k];
  const Node& node = dense_node(k);
  for (Index d = 0; d < out.cols; ++d) {
    const auto e = e_change(node.out, out.cols).columns(d * examples_, examples_);
    const MatrixView<T> to(out.column_data(d) + shape.weight_offset, shape.inputs, shape.outputs);
    gemm(Op::none, Op::transpose, T(1), value(node.in), e, T(0), to);
    if (is_moved(node.in))
      gemm(Op::none, Op::transpose, T(1), change(node.in, out.cols).columns(d * examples_, examples_),
           sensitivity(node.out), T(1), to);
    if (shape.has_bias()) row_sums(e, out.column_data(d) + shape.bias_offset);
  }
}

template <class T>
void HessianProducts<T>::multiply(ConstMatrixView<T> v, MatrixView<T> out) {
  const SampledWeights<T> weights(theta_);
  const Directions<T> directions{weights, v, v.cols, examples_};
  std::fill(moved_.begin(), moved_.end(), false);
  move_forward(0, directions);
  change_output_gradient(v.cols);
  move_backward(0, directions);
  for (std::size_t k = 0; k < graph_.dense().size(); ++k) write_products(k, out);
}

/// Writes second_ = d^2 L / dz^2 of a layer whose outputs are the network's.
template <class T>
void HessianProducts<T>::output_curvatures() {
  const Index outputs = graph_.outputs();
  for (Index i = 0; i < examples_; ++i)
    for (Index c = 0; c < outputs; ++c)
      second_.data()[i * outputs + c] = weights_.data()[i] * static_cast<T>(model_.likelihood.hessian_entry(
                                                                 terms_.data() + i * outputs, c, c));
}

/// Writes second_ = d^2 L / dz^2 of hidden layer k: its units are the directions, the same for all examples.
template <class T>
void HessianProducts<T>::unit_curvatures(std::size_t k) {
  const Index units = graph_.dense()[k].outputs, wire = dense_node(k).out;
  const std::size_t next = node_number(k) + 1;
  const SampledWeights<T> weights(theta_);
  for (Index first = 0; first < units; first += directions_) {
    const Index count = std::min(directions_, units - first);
    const Directions<T> directions{weights, {}, count, examples_};
    std::fill(moved_.begin(), moved_.end(), false);
    moved_[at(wire)] = true;
    const auto z = change(wire, count);
    std::fill_n(z.data, z.size(), T(0));
    for (Index j = 0; j < z.cols; ++j) z(first + j / examples_, j) = 1;
    move_forward(next, directions);
    change_output_gradient(count);
    move_backward(next, directions);
    const auto e = e_change(wire, count);
    for (Index j = 0; j < e.cols; ++j) {
      const Index unit = first + j / examples_;
      second_.data()[j % examples_ * units + unit] = e(unit, j);
    }
  }
}

template <class T>
void HessianProducts<T>::add_layer_diagonal(std::size_t k, double factor, std::span<double> sums) {
  const DenseShape& shape = graph_.dense()[k];
  const auto a = value(dense_node(k).in);
  const auto squares = squares_.matrix(shape.inputs, examples_),
             second = second_.matrix(shape.outputs, examples_);
  for (Index j = 0; j < examples_; ++j)
    for (Index i = 0; i < shape.inputs; ++i) squares(i, j) = a(i, j) * a(i, j);
  const auto add = [&](Index offset, Index size) {
    double* to = sums.data() + offset;
    const T* from = products_.data();
    for (Index i = 0; i < size; ++i) to[i] += factor * static_cast<double>(from[i]);
  };
  gemm(Op::none, Op::transpose, T(1), squares, second, T(0), products_.matrix(shape.inputs, shape.outputs));
  add(shape.weight_offset, shape.weights());
  if (!shape.has_bias()) return;
  row_sums(second, products_.data());
  add(shape.bias_offset, shape.outputs);
}

template <class T>
void HessianProducts<T>::add_diagonal(double factor, std::span<double> sums) {
  for (std::size_t k = 0; k < graph_.dense().size(); ++k) {
    if (dense_node(k).out == graph_.output())
      output_curvatures();
    else
      unit_curvatures(k);
    add_layer_diagonal(k, factor, sums);
  }
}

template class HessianProducts<float>;
template class HessianProducts<double>;

}  // namespace bdl
