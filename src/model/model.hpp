// What is learned: outputs f(x; theta) with a likelihood. Networks and the caller's own models derive from
// it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/standardization.hpp"
#include "likelihood/likelihood.hpp"

namespace bdl {

/// A named part of theta: rows x cols, row-major, from offset on.
struct ParameterBlock {
  std::string name;
  Index offset, rows, cols;
  Index layer;
  bool is_bias;
  Index fan_in = 1;  ///< inputs of the layer; 1 where there are no layers
  Index size() const { return rows * cols; }
};

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
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// One dense layer and one output: f = theta^T x, so q(f) is a one-dimensional Gaussian.
  virtual bool is_single_index() const { return false; }

  /// F (C x M) = f(X; theta) for the columns of X (inputs x M), standardised both. `scratch` grows to
  /// scratch_size(M).
  virtual void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f,
                       Buffer<T>& scratch) const = 0;
  virtual Index scratch_size(Index) const { return 0; }

  /// Of standardised targets: noise_units.hpp has its noise in the caller's units.
  Likelihood likelihood;
  Standardization standardization;

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
