// The Jacobians df(x_i; theta) / dtheta of a batch, for callers that need the rows themselves.
#pragma once

#include <optional>

#include "curvature/blocked_rows.hpp"
#include "model/model.hpp"

namespace bdl {

template <class T>
class JacobianRows {
 public:
  /// The model must outlive it.
  explicit JacobianRows(const Model<T>& model) : model_(model) {
    if (model.graph()) rows_.emplace(*model.graph());
  }
  /// Makes room for the seeds of so many examples in a custom model.
  void reserve(Index examples);
  /// Writes F = f(X; theta) (C x M), and df_c(x_i) / dtheta to column c M + i of rows (D x C M), with 0 for
  /// point parameters.
  void compute(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, MatrixView<T> rows,
               ConstSpan<double> statistics = {});

 private:
  void fill_seeds(MatrixView<T> seeds) const;
  void network_rows(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, MatrixView<T> rows,
                    ConstSpan<double> statistics);
  const Model<T>& model_;
  Tape<T> tape_;
  std::optional<NetworkRows<T>> rows_;
  Buffer<T> seeds_;
  Scratch scratch_;
};

/// Writes d f_c(x_i; theta) / d theta to column i C + c of out (D x M C). Fails with ERROR_DIVERGED unless
/// outputs and Jacobian are finite, with ERROR_UNSUPPORTED for a custom model without gradients callback.
template <class T>
void write_jacobian(const Model<T>& model, ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> out);

}  // namespace bdl
