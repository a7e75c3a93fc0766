// Where weights start: random, with a spread that suits the number of inputs and outputs
// (bdl_initialization).
#pragma once

#include <span>
#include <vector>

#include "bdl/model.h"
#include "network/shape.hpp"
#include "rng/philox.hpp"

namespace bdl {

/// Inputs of an output, and outputs of an input.
struct Fan {
  Index in, out;
};

/// The blocks "weight" and, unless bias_offset < 0, "bias"; `units` as ParameterBlock says.
std::vector<ParameterBlock> weights_and_bias(Index outputs, Index inputs, Index weight_offset,
                                             Index bias_offset, Index units);

/// Biases start at 0, but with BDL_INIT_UNIFORM_FAN_IN as the weights do.
template <class T>
void initialize_weights(bdl_initialization scheme, const Fan& fan, const StreamKey& key,
                        std::span<const ParameterBlock> blocks, std::span<T> theta);

}  // namespace bdl
