// A pass multiplies by the weights of dense layers and convolutions: by sampled weights (here), or by noisy
// ones (noise/noisy_network.hpp). Also the starting values of weights.
#pragma once

#include <vector>

#include "bdl/model.h"
#include "network/convolution/convolution.hpp"
#include "rng/philox.hpp"

namespace bdl {

template <class T>
class Weights {
 public:
  Weights() = default;
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;
  virtual ~Weights() = default;
  /// Returns the point parameters of sample s from number `offset` of theta on.
  virtual const T* point_parameters(Index offset, Index s) const = 0;
  /// Z = W A + b in sample s.
  virtual void apply(const DenseShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const = 0;
  /// to = W^T E in sample s; add: to += W^T E.
  virtual void pull(const DenseShape& shape, Index s, ConstMatrixView<T> e, bool add,
                    MatrixView<T> to) const = 0;
  /// Z = W * A + b for the maps of a convolution, in packets.
  virtual void apply(const ConvShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const = 0;
  /// to = W^T * E for the maps of a convolution; add: to += W^T * E.
  virtual void pull(const ConvShape& shape, Index s, ConstMatrixView<T> e, bool add,
                    MatrixView<T> to) const = 0;
};

/// Parameter vectors theta_s in the columns of a matrix.
template <class T>
class SampledWeights final : public Weights<T> {
 public:
  explicit SampledWeights(ConstMatrixView<T> thetas) : thetas_(thetas) {}
  const T* point_parameters(Index offset, Index s) const override { return thetas_.column_data(s) + offset; }
  void apply(const DenseShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override;
  void pull(const DenseShape& shape, Index s, ConstMatrixView<T> e, bool add,
            MatrixView<T> to) const override;
  void apply(const ConvShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override;
  void pull(const ConvShape& shape, Index s, ConstMatrixView<T> e, bool add, MatrixView<T> to) const override;
  /// Returns W^T.
  ConstMatrixView<T> transposed(const DenseShape& shape, Index s) const {
    return {thetas_.column_data(s) + shape.weight_offset, shape.inputs, shape.outputs};
  }

 private:
  ConstMatrixView<T> thetas_;
};

/// Number of inputs that make an output, and of outputs that an input goes into.
struct Fan {
  Index in, out;
};

/// Returns the blocks "weight" and, unless bias_offset < 0, "bias"; `units` as in ParameterBlock.
std::vector<ParameterBlock> weights_and_bias(Index outputs, Index inputs, Index weight_offset,
                                             Index bias_offset, Index units);

/// Draws weights, scaled by the number of inputs and outputs as bdl_initialization says. Biases are drawn
/// only with BDL_INIT_UNIFORM_FAN_IN, and else stay 0.
template <class T>
void initialize_weights(bdl_initialization scheme, const Fan& fan, const StreamKey& key,
                        std::span<const ParameterBlock> blocks, std::span<T> theta);

}  // namespace bdl
