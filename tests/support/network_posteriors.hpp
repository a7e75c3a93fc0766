// Posteriors of any family for a network, as the C functions create them.
#pragma once

#include <memory>

#include "model/network.hpp"
#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl::testing {

/// Returns a posterior for a network. A low-rank one of rank 0 is diagonal. A network with a layer that has
/// no Kronecker factors fails.
template <class T>
std::shared_ptr<Posterior<T>> posterior_for(Family family, Index rank, const Network<T>& model) {
  PosteriorKind kind{family, model.parameters(), rank, {}, {}};
  if (family == Family::layerwise_full || family == Family::layerwise_low_rank_moment)
    for (const ParameterBlock& block : model.blocks()) {
      if (block.layer == std::ssize(kind.blocks)) kind.blocks.push_back(0);
      kind.blocks.back() += block.size();
    }
  if (family == Family::dropout) kind.dropout = DropoutLayout{layers_with_masks(*model.graph()), 0.1, 0.2};
  if (family == Family::kronecker) kind.matrices = matrices_of<T>(model);
  kind.point_parameters = point_parameters_of<T>(model);
  return create_posterior<T>(kind);
}

}  // namespace bdl::testing
