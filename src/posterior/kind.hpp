// The families, and what a posterior of each is created with.
#pragma once

#include <optional>
#include <vector>

#include "network/shape.hpp"

namespace bdl {

enum class Family {
  low_rank = 1,
  full = 2,
  full_moment = 3,
  diagonal_moment = 4,
  dropout = 5,
  layerwise_full = 6,
  low_rank_moment = 7,
  layerwise_low_rank_moment = 8,
  kronecker = 9
};

/// True if a posterior of this family is created with a rank.
inline bool has_rank(Family family) {
  return family == Family::low_rank || family == Family::low_rank_moment ||
         family == Family::layerwise_low_rank_moment;
}

/// True if steps of this family take a Hessian as a matrix.
inline bool takes_matrix(Family family) {
  return family == Family::full || family == Family::full_moment || family == Family::layerwise_full;
}

/// True if the family's parameters are those of the covariance, not of the precision.
inline bool is_moment(Family family) {
  return family == Family::full_moment || family == Family::diagonal_moment ||
         family == Family::low_rank_moment || family == Family::layerwise_low_rank_moment;
}

/// The weights of a layer as a matrix, outputs x inputs, row-major, and behind them perhaps its bias, which
/// counts as a last column; without inputs, so many independent parameters.
struct MatrixShape {
  Index outputs = 0, inputs = 0;
  bool has_bias = false;
  bool is_matrix() const { return inputs > 0; }
  Index columns() const { return inputs + (has_bias ? 1 : 0); }
  Index parameters() const { return is_matrix() ? outputs * columns() : outputs; }
  bool operator==(const MatrixShape&) const = default;
};

/// Which parameters share a mask of dropout: the weights that a unit feeds in one of these layers. Units are
/// the inputs of a dense layer and the channels that a convolution reads.
struct DropoutLayout {
  struct Layer {
    Index inputs, outputs;  ///< units and filters, if it is a convolution
    bool bias;
    bool of_data;                ///< its inputs are the network's
    Index taps = 1, groups = 1;  ///< of a convolution: its kernel's, for a unit and an output of its group
    Index inputs_of_group() const { return inputs / groups; }
    Index outputs_of_group() const { return outputs / groups; }
    Index weights_of_output() const { return inputs_of_group() * taps; }
    Index weights() const { return outputs * weights_of_output(); }
    Index parameters() const { return weights() + (bias ? outputs : 0); }
    /// Returns the first unit of an output.
    Index first_unit(Index output) const { return output / outputs_of_group() * inputs_of_group(); }
    bool operator==(const Layer&) const = default;
  };
  std::vector<Layer> layers;       ///< in the order of their parameters
  double input_rate, hidden_rate;  ///< in [0, 1): of the network's inputs, of hidden units
  Index parameters() const;
};

/// Returns the layout of a multilayer perceptron: inputs, then the outputs of each layer.
DropoutLayout dropout_layout(ConstSpan<Index> sizes, bool bias, double input_rate, double hidden_rate);

/// Numbers of a network without uncertainty that a posterior holds: point parameters, which only have a mean,
/// and the running statistics of layers that normalise.
struct PointLayout {
  std::vector<ParameterRange> ranges{};  ///< in their order, none next to another
  Index statistics = 0;                  ///< numbers
  bool is_empty() const { return ranges.empty() && statistics == 0; }
  Index parameters() const;
  bool operator==(const PointLayout&) const = default;
};

/// Enough to create a posterior, in either arithmetic.
struct PosteriorKind {
  Family family = Family::low_rank;
  Index dimension = 0;
  Index rank = 0;               ///< of the families that has_rank() names, in each block
  std::vector<Index> blocks{};  ///< parameters of each independent block
  std::optional<DropoutLayout> dropout{};
  PointLayout point_parameters{};
  std::vector<MatrixShape> matrices{};  ///< of each block, in the Kronecker-factored family
};

}  // namespace bdl
