// Models: outputs f(x; theta) with a likelihood. network.hpp has networks, user_model.hpp models that the
// caller defines by callbacks. checked_data.hpp checks x and y against a model; noise_units.hpp converts
// noise between standardised and the caller's units; names.hpp keeps names of inputs, targets and classes.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/scratch.hpp"
#include "data/data_set.hpp"
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
  /// Returns an equal model. Copies of a custom model share its callbacks.
  virtual std::unique_ptr<Model> clone() const = 0;

  /// Returns the number of columns of x: the features, and an offset for each mean if rows have offsets.
  Index inputs() const { return features_ + offsets(); }
  Index features() const { return features_; }
  Index offsets() const { return has_offsets_ ? likelihood.means() : 0; }
  /// Says whether rows end in offsets, which are added to the outputs; their units are those of the targets.
  void set_offsets(bool given);
  RowExtras extras() const { return {offsets(), likelihood.is_weighted()}; }
  Index outputs() const { return likelihood.outputs(); }
  Index parameters() const { return parameters_; }
  /// Returns the number of inputs, targets or classes; 0 classes unless y is one column of them.
  Index count_of(bdl_named what) const {
    if (what == BDL_INPUT) return features_;
    if (what == BDL_TARGET) return likelihood.targets();
    if (likelihood.has_one_label()) return likelihood.moment_count();
    return likelihood.has_classes() && outputs() == 1 ? 2 : 0;
  }
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// True for one dense layer: f = W x + b.
  virtual bool is_linear() const { return false; }
  /// True for one dense layer with one output: f = theta^T x, so q(f) is a one-dimensional Gaussian.
  virtual bool is_single_index() const { return false; }
  /// True if its expectations over a Gaussian posterior are one-dimensional integrals that the library knows.
  bool has_exact_expectations() const { return is_single_index() && likelihood.is_exact(); }
  /// True if the library finds its posterior without steps on minibatches: expectations over the outputs of
  /// one layer.
  bool has_exact_optimum() const {
    const bool is_shared = has_shape(likelihood.kind());  // one shape of several outputs is not learned
    return has_exact_expectations() ||
           (is_linear() && (likelihood.kind() == BDL_CATEGORICAL || (likelihood.is_exact() && !is_shared)));
  }

  /// Computes F (C x M) = f(X; theta) + offsets for the columns of X (inputs x M), both standardised.
  /// `statistics` are a posterior's running moments of layers that normalise.
  virtual void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
                       ConstSpan<double> statistics = {}) const = 0;
  /// Returns the network's layers, or null for a custom model.
  virtual const Graph<T>* graph() const { return nullptr; }
  /// Writes the parameters from which training starts.
  virtual void initialize(bdl_initialization, std::uint64_t, std::span<T> theta) const {
    std::ranges::fill(theta, T(0));
  }
  /// Computes column i of rows (D x M) = sum_c seeds(c, i) df_c(x_i) / dtheta. Fails with ERROR_UNSUPPORTED
  /// for networks, whose gradients come from their layers.
  virtual void gradient_rows(ConstSpan<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> seeds,
                             MatrixView<T> rows) const;

  /// The likelihood of standardised targets; noise_units.hpp converts its noise to the caller's units.
  Likelihood likelihood;
  Standardization standardization;
  Names names;

 protected:
  Model(Index features, Likelihood density) : likelihood(std::move(density)), features_(features) {}
  Model(const Model&) = default;
  Index features_, parameters_ = 0;
  bool has_offsets_ = false;
  std::vector<ParameterBlock> blocks_;
};

/// Reads the caller's rows (first, first + 1, ... or a list) as standardised columns of the core. All code
/// that reads x or y uses these two.
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
