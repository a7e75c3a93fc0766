// A layer: what it does with the examples of one parameter sample, forward, backward, and along directions.
// One file a kind; layers.def has them all.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "bdl/model.h"
#include "network/block_rows.hpp"
#include "network/packets.hpp"
#include "network/statistics.hpp"
#include "network/weights.hpp"
#include "rng/philox.hpp"

namespace bdl {

/// One sample's way through the network.
template <class T>
struct Pass {
  const Weights<T>& weights;
  Index examples = 0;
  Index sample = 0;
  const StreamKey* noise = nullptr;  ///< of layers that are random in training; none: they are not
  Statistics statistics{};           ///< of layers that normalise
};

/// What a layer keeps of a forward pass, in columns as its outputs.
template <class T>
struct Kept {
  MatrixView<T> slopes{};       ///< kept() numbers
  MatrixView<T> curvatures{};   ///< second derivatives, if they are asked for
  double* of_sample = nullptr;  ///< kept_of_sample() numbers
  bool is_wanted() const { return slopes.data != nullptr; }
};

/// Directions V (D x K) in which all is differentiated; without any, only what comes from the inputs changes.
template <class T>
struct Directions {
  const SampledWeights<T>& weights;
  ConstMatrixView<T> v{};
  Index count = 0;
  Index examples = 0;  ///< column k M + i: direction k, example i
};

/// Where a new layer's parameters, random numbers and channels with statistics begin.
struct Placement {
  Index parameters = 0;
  Index random = 0;  ///< of an example
  Index channels = 0;
};

/// What a method may need of a layer beyond gradients.
enum class Need {
  second_derivatives,  ///< exact Hessians
  one_function,        ///< the same outputs whenever they are asked for: linearised methods and streams
  separate_examples,   ///< in training, outputs of an example that depend on no other: Gauss-Newton rows
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
  /// Its line of a description, in canonical form.
  virtual std::string text() const = 0;
  virtual Index parameters() const { return 0; }
  /// Of its parameters, from their first on; their names are those within the layer.
  virtual std::vector<ParameterBlock> blocks() const { return {}; }
  /// theta is the network's.
  virtual void initialize(bdl_initialization, const StreamKey&, std::span<T>) const {}
  /// The layout of inputs and outputs; none: as they come.
  virtual std::optional<Layout> layout() const { return Layout::columns; }
  /// The same numbers in the other layout.
  virtual bool is_repacking() const { return false; }
  /// The curvature rows of its parameters, if it has some. `of_data`: its inputs are the examples themselves,
  /// the same for all samples.
  virtual std::unique_ptr<BlockRows<T>> rows(bool of_data) const {
    static_cast<void>(of_data);
    return nullptr;
  }
  /// The same where its parameters are points.
  virtual std::unique_ptr<PointRows<T>> point_rows() const { return nullptr; }
  /// Channels of which it has running statistics.
  virtual Index normalized_channels() const { return 0; }
  /// Of a training step, which would have no statistics else.
  virtual Index fewest_examples() const { return 1; }
  /// Weights and bias of a dense layer; else null.
  virtual const DenseShape* dense() const { return nullptr; }
  /// The same of a convolution.
  virtual const ConvShape* convolution() const { return nullptr; }
  virtual bool can(Need) const { return true; }
  /// That it uses up for an example in training.
  virtual Index random_numbers() const { return 0; }
  /// Nobody needs its inputs any more, so the outputs may take their place.
  virtual bool is_elementwise() const { return false; }
  /// Numbers that back-propagation needs of a column, whose outputs are so many.
  virtual Index kept(Index) const { return 0; }
  /// The same of a sample.
  virtual Index kept_of_sample() const { return 0; }

  virtual void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
                       const Kept<T>& kept) const = 0;
  /// to = J^T E, or to += J^T E, J = d out / d in; where curvatures are kept, they are multiplied by E.
  virtual void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                        MatrixView<T> to) const = 0;
  /// R{out} for R{in}, empty if that is 0; `in` are the values. Where can(Need::second_derivatives).
  virtual void change(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>, ConstMatrixView<T>,
                      MatrixView<T>) const {
    fail(Status::ERROR_INTERNAL, "layer \"%s\" has no second derivatives", text().c_str());
  }
  /// R{J^T E} for R{E}; kept.curvatures are those times E.
  virtual void change_back(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>, ConstMatrixView<T>,
                           ConstMatrixView<T>, bool, MatrixView<T>) const {
    fail(Status::ERROR_INTERNAL, "layer \"%s\" has no second derivatives", text().c_str());
  }

 private:
  Shape input_, output_;
};

}  // namespace bdl
