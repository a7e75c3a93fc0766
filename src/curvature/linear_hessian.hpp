// The Hessian of a generalised linear model (a network of one layer) in dense form: an example adds its
// likelihood's Hessian F, C x C, times x x^T to each pair of outputs.
#pragma once

#include "model/model.hpp"
#include "network/graph.hpp"

namespace bdl {

template <class T>
class LinearHessian {
 public:
  explicit LinearHessian(const Model<T>& model) : model_(model) {}

  void reserve(Index examples);
  /// Adds scale sum_si Hessian to the lower triangle of `out`, for thetas (D x S), x (inputs x M) and y. O(M
  /// D^2 / 2) for coupled outputs, O(M D^2 / (2 C)) for others, whatever the number of samples.
  void add(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y, double scale,
           MatrixView<double> out);

 private:
  Index pairs() const;
  void fill_weights(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                    MatrixView<double> weights);
  void add_pair(Index c, Index k, ConstSpan<double> w, double scale, MatrixView<double> out);
  void add_biases(Index c, Index k, ConstSpan<double> w, double scale, MatrixView<double> out) const;

  const Model<T>& model_;
  ConstMatrixView<double> x_;
  Buffer<double> inputs_, scaled_, weights_, terms_;
  Buffer<T> outputs_;
  Scratch scratch_;
};

}  // namespace bdl
