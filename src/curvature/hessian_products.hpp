// Exact products with the Hessian of L(theta) = -sum_i log p(y_i | f(x_i; theta)) of a network, forward over
// reverse (Pearlmutter 1994): back-propagation is differentiated in the directions V, all examples and
// directions at once, at a few times the cost of a gradient per direction.
#pragma once

#include "model/model.hpp"
#include "network/graph.hpp"

namespace bdl {

template <class T>
class HessianProducts {
 public:
  /// The model must be a network, and must outlive this.
  explicit HessianProducts(const Model<T>& model);

  /// Makes room for batches of at most so many examples and directions.
  void reserve(Index examples, Index directions);

  /// Back-propagates at theta (D x 1), which like x (inputs x M) must stay until the products are done. Fails
  /// with ERROR_DIVERGED unless the outputs are finite.
  void assign(ConstMatrixView<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> y);
  /// Writes H V (D x K), for at most as many directions as are reserved.
  void multiply(ConstMatrixView<T> v, MatrixView<T> out);
  /// Adds factor diag(H). W enters only through z = W a + b, so d^2 L / dW_oi^2 is the sum over the examples
  /// of a_i^2 d^2 L / dz_o^2: one direction per hidden unit, none for outputs.
  void add_diagonal(double factor, std::span<double> sums);

 private:
  using Node = typename Graph<T>::Node;
  const Node& dense_node(std::size_t k) const;
  std::size_t node_number(std::size_t k) const { return static_cast<std::size_t>(graph_.dense_nodes()[k]); }
  bool is_moved(Index wire) const { return moved_[static_cast<std::size_t>(wire)]; }
  ConstMatrixView<T> value(Index wire) const { return graph_.values(tape_, wire); }
  ConstMatrixView<T> sensitivity(Index wire) const { return graph_.sensitivities(tape_, wire, 1); }
  MatrixView<T> change(Index wire, Index count);
  ConstMatrixView<T> change_if_moved(Index wire, Index count);
  MatrixView<T> e_change(Index wire, Index count);

  void move_forward(std::size_t first, const Directions<T>& directions);
  void move_backward(std::size_t first, const Directions<T>& directions);
  void change_output_gradient(Index count);
  void write_products(std::size_t k, MatrixView<T> out);
  void unit_curvatures(std::size_t k);
  void output_curvatures();
  void add_layer_diagonal(std::size_t k, double factor, std::span<double> sums);
  Index most(Index (*of)(const DenseShape&)) const;

  const Model<T>& model_;
  const Graph<T>& graph_;
  Index examples_ = 0, directions_ = 0;
  ConstMatrixView<T> theta_;
  Tape<T> tape_;
  std::vector<Buffer<T>> changes_;    // R{values} of each wire: column k M + i for direction k, example i
  std::vector<Buffer<T>> e_changes_;  // R{E} of each place
  std::vector<bool> moved_,
      written_;  // per wire: true if it changes with the directions; true if its R{E} has been written
  Buffer<double> terms_;                   // the likelihood's Hessians
  Buffer<T> weights_;                      // of the examples
  Buffer<T> squares_, second_, products_;  // memory of add_diagonal()
};

}  // namespace bdl
