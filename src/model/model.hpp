// What is learned: outputs f(x; theta) with a likelihood. Networks and the caller's own models derive from
// it.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/scratch.hpp"
#include "data/standardization.hpp"
#include "likelihood/likelihood.hpp"
#include "model/names.hpp"
#include "network/shape.hpp"

namespace bdl {

template <class T>
class Graph;

template <class T>
class Model {
 public:
  using Scalar = T;
  virtual ~Model() = default;
  /// Another model of the same kind with the same likelihood. A user's model shares its callbacks.
  virtual std::unique_ptr<Model> clone() const = 0;

  Index inputs() const { return inputs_; }
  Index outputs() const { return likelihood.outputs(); }
  Index parameters() const { return parameters_; }
  /// Number of what has names: 0 classes unless y is one column of them.
  Index count_of(bdl_named what) const {
    if (what == BDL_INPUT) return inputs_;
    if (what == BDL_TARGET) return likelihood.targets();
    if (likelihood.kind() == BDL_CATEGORICAL) return outputs();
    return likelihood.kind() == BDL_BERNOULLI && outputs() == 1 ? 2 : 0;
  }
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// One dense layer and one output: f = theta^T x, so q(f) is a one-dimensional Gaussian.
  virtual bool is_single_index() const { return false; }

  /// F (C x M) = f(X; theta) for the columns of X (inputs x M), standardised both. `statistics`: a
  /// posterior's, of layers that normalise.
  virtual void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
                       ConstSpan<double> statistics = {}) const = 0;
  /// The layers that it is made of; null: the caller's own function, of which only gradients are known.
  virtual const Graph<T>* graph() const { return nullptr; }
  /// Where training starts.
  virtual void initialize(bdl_initialization, std::uint64_t, std::span<T> theta) const {
    std::ranges::fill(theta, T(0));
  }
  /// Column i of rows (D x M) = sum_c seeds(c, i) df_c(x_i) / dtheta. Fails with ERROR_UNSUPPORTED where it
  /// is not known so.
  virtual void gradient_rows(ConstSpan<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> seeds,
                             MatrixView<T> rows) const;

  /// Of standardised targets: noise_units.hpp has its noise in the caller's units.
  Likelihood likelihood;
  Standardization standardization;
  Names names;

 protected:
  Model(Index inputs, Likelihood density) : likelihood(std::move(density)), inputs_(inputs) {}
  Model(const Model&) = default;
  Index inputs_, parameters_ = 0;
  std::vector<ParameterBlock> blocks_;
};

/// The caller's rows (first, first + 1, ... or a list) as the core's columns, standardised: whoever reads x
/// or y reads it by these.
template <class T, class Rows, class Out>
void gather_inputs(const Model<T>& model, const Array& x, const Rows& rows, MatrixView<Out> out) {
  gather(x, rows, out, model.standardization.inputs());
}
template <class T, class Rows, class Out>
void gather_targets(const Model<T>& model, const Array& y, const Rows& rows, MatrixView<Out> out) {
  gather(y, rows, out, model.standardization.targets());
}

/// Fails with ERROR_DIVERGED, naming output and example, unless F is finite.
template <class T>
void check_outputs_finite(ConstMatrixView<T> f);

}  // namespace bdl
