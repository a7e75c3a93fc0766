// Exact products with the Hessian of L(theta) = -sum_i log p(y_i | f(x_i; theta)) of a network, forward over
// reverse (Pearlmutter 1994): back-propagation is differentiated in the directions V, all examples and
// directions at once, at a few times the cost of a gradient per direction.
#pragma once

#include "model/network.hpp"

namespace bdl {

template <class T>
class HessianProducts {
 public:
  explicit HessianProducts(const Network<T>& network) : network_(network) {}

  /// For batches of at most so many examples and directions.
  void reserve(Index examples, Index directions);
  Index bytes(Index examples, Index directions) const;

  /// Back-propagates at theta (D x 1), which like x (inputs x M) must stay until the products are done. Fails
  /// with ERROR_DIVERGED unless the outputs are finite.
  void assign(ConstMatrixView<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> y);
  /// out = H V (D x K) for as many directions as are reserved at most.
  void multiply(ConstMatrixView<T> v, MatrixView<T> out);
  /// sums += factor diag(H). W enters only through z = W a + b, so d^2 L / dW_oi^2 = sum over the examples of
  /// a_i^2 d^2 L / dz_o^2: one direction per hidden unit, none for the last layer.
  void add_diagonal(double factor, std::span<double> sums);

 private:
  const DenseLayer& layer(std::size_t l) const { return network_.layers()[l]; }
  std::size_t last() const { return network_.layers().size() - 1; }
  ConstMatrixView<T> weight_t(std::size_t l) const;
  ConstMatrixView<T> input(std::size_t l) const;
  ConstMatrixView<T> sensitivity(std::size_t l) const;
  MatrixView<T> z_change(std::size_t l, Index count);
  MatrixView<T> a_change(std::size_t l, Index count);
  MatrixView<T> e_change(std::size_t l, Index count);

  void change_weights(std::size_t l, ConstMatrixView<T> v);
  void change_activations(std::size_t l, Index count);
  void change_output_gradient(Index count);
  void change_sensitivities(std::size_t l, ConstMatrixView<T> v, Index count);
  void write_products(std::size_t l, MatrixView<T> out);
  void unit_curvatures(std::size_t l);
  void output_curvatures();
  void add_layer_diagonal(std::size_t l, double factor, std::span<double> sums);
  Index most_inputs() const;
  Index most_outputs() const;
  Index most_weights() const;

  const Network<T>& network_;
  Index examples_ = 0, directions_ = 0;
  ConstMatrixView<T> theta_;
  Tape<T> tape_;                                  // curvatures[l] become phi'' ∘ W^T E
  std::vector<Buffer<T>> z_changes_, a_changes_;  // R{z_l} and R{phi(z_l)}, column k M + i
  Buffer<T> e_changes_[2];                        // R{E_l}, of layers l and l + 1
  Buffer<double> terms_;                          // the likelihood's Hessians
  Buffer<T> squares_, second_, products_;         // for the diagonal
};

}  // namespace bdl
