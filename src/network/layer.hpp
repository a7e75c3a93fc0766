// The interface of a layer, which treats the examples of one parameter sample: forward, backward to its
// inputs, and along directions in which parameters change (for exact Hessians). layers.def lists the kinds of
// layers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bdl/model.h"
#include "network/block_rows.hpp"
#include "network/weights.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// Running statistics of all batch norm layers: n means and then n variances for n channels, layer after
/// layer. They are learned with the parameters and belong to the posterior.
struct Statistics {
  ConstSpan<double> running{};  ///< predictions normalise by these
  /// Training normalises by the minibatch's own statistics and averages them into these, sample after sample.
  std::span<double> learned{};

  bool trains() const { return !learned.empty(); }
  Index size() const { return std::ssize(trains() ? ConstSpan<double>(learned) : running); }
};

/// One sample's pass through the network.
template <class T>
struct Pass {
  const Weights<T>& weights;
  Index examples = 0;
  Index sample = 0;
  const StreamKey* noise = nullptr;  ///< for layers that are random in training; null: they are not
  Statistics statistics{};           ///< for layers that normalise
};

/// The values that a layer keeps of a forward pass for the backward pass, in columns like its outputs.
template <class T>
struct Kept {
  MatrixView<T> slopes{};       ///< kept() numbers a column
  MatrixView<T> curvatures{};   ///< second derivatives, if they are asked for
  double* of_sample = nullptr;  ///< kept_of_sample() numbers
  bool is_wanted() const { return slopes.data != nullptr; }
};

/// Directions V (D x K) of the parameters in which a pass is differentiated. If V is empty, only the inputs
/// change.
template <class T>
struct Directions {
  const SampledWeights<T>& weights;
  ConstMatrixView<T> v{};
  Index count = 0;
  Index examples = 0;  ///< column k M + i: direction k, example i
};

/// The numbers of a new layer's first parameter, random number and normalised channel.
struct Placement {
  Index parameters = 0;
  Index random = 0;  ///< counts within an example
  Index channels = 0;
};

/// Abilities of a layer, beyond gradients, that a method may need.
enum class Need {
  second_derivatives,  ///< exact Hessians
  one_function,        ///< the same outputs at every call: linearised methods and streams
  separate_examples,   ///< outputs in training that depend on one example alone: Gauss-Newton rows
};

template <class T>
class Layer {
 public:
  Layer(const Shape& input, const Shape& output) : input_(input), output_(output) {}
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  const Shape& input() const { return input_; }
  const Shape& output() const { return output_; }
  /// Returns its line of a description, in canonical form.
  virtual std::string text() const = 0;
  virtual Index parameters() const { return 0; }
  /// Returns the blocks of its parameters, with names that are unique within the layer.
  virtual std::vector<ParameterBlock> blocks() const { return {}; }
  /// Writes its starting values into theta, which are all parameters of the network.
  virtual void initialize(bdl_initialization, const StreamKey&, std::span<T>) const {}
  /// Returns the layout of its inputs and outputs; none: any layout will do.
  virtual std::optional<Layout> layout() const { return Layout::columns; }
  /// True if its outputs are its inputs, perhaps in another layout.
  virtual bool is_repacking() const { return false; }
  /// Makes curvature rows for its parameters; null if it has none, or point parameters. `of_data`: its inputs
  /// are the examples themselves, the same for all samples.
  virtual std::unique_ptr<BlockRows<T>> rows(bool of_data) const {
    static_cast<void>(of_data);
    return nullptr;
  }
  /// Makes rows for point parameters; null if it has none.
  virtual std::unique_ptr<PointRows<T>> point_rows() const { return nullptr; }
  /// Number of channels with running statistics.
  virtual Index normalized_channels() const { return 0; }
  /// Smallest minibatch that it can be trained on.
  virtual Index fewest_examples() const { return 1; }
  /// Returns the weights and bias of a dense layer; else null.
  virtual const DenseShape* dense() const { return nullptr; }
  /// Returns the weights and bias of a convolution; else null.
  virtual const ConvShape* convolution() const { return nullptr; }
  virtual bool can(Need) const { return true; }
  /// Number of random numbers that an example takes in training.
  virtual Index random_numbers() const { return 0; }
  /// True if its outputs may overwrite its inputs, which nothing reads afterwards.
  virtual bool is_elementwise() const { return false; }
  /// Number of values that it keeps of a column with so many outputs.
  virtual Index kept(Index) const { return 0; }
  /// Number of values that it keeps of a sample besides those.
  virtual Index kept_of_sample() const { return 0; }

  virtual void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
                       const Kept<T>& kept) const = 0;
  /// to = J^T E, or to += J^T E, with J = d out / d in. Curvatures that are kept are multiplied by E.
  virtual void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                        MatrixView<T> to) const = 0;
  /// Writes R{out}, the change of the outputs, for R{in}, which is empty if it is 0. `in` are the values.
  /// Needs can(Need::second_derivatives).
  virtual void change(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>, ConstMatrixView<T>,
                      MatrixView<T>) const {
    fail(Status::ERROR_INTERNAL, "layer \"%s\" has no second derivatives", text().c_str());
  }
  /// Writes or adds R{J^T E} for R{E}; kept.curvatures have been multiplied by E.
  virtual void change_back(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>, ConstMatrixView<T>,
                           ConstMatrixView<T>, bool, MatrixView<T>) const {
    fail(Status::ERROR_INTERNAL, "layer \"%s\" has no second derivatives", text().c_str());
  }

 private:
  Shape input_, output_;
};

/// to = from, or to += from; does nothing if they are the same memory.
template <class T>
void pass_on(ConstMatrixView<T> from, bool add, MatrixView<T> to) {
  if (from.data == to.data) return;
  const T* in = from.data;
  T* out = to.data;
  for_each_index(from.size(), [=](Index i) BDL_INLINE_LAMBDA { out[i] = add ? out[i] + in[i] : in[i]; });
}

}  // namespace bdl
