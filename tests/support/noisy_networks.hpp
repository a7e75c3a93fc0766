// Networks with low-rank-moment posteriors of their layers, in a few lines.
#pragma once

#include <memory>

#include "model/network.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/members.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl::testing {

template <class T>
std::shared_ptr<Network<T>> described_network(const char* description, bdl_likelihood likelihood) {
  const auto graph = std::make_shared<const Graph<T>>(description);
  return std::make_shared<Network<T>>(graph, Likelihood(likelihood, graph->outputs()));
}

/// Parameters of each layer that has some.
inline std::vector<Index> layer_sizes_of(const std::vector<ParameterBlock>& blocks) {
  std::vector<Index> sizes;
  Index layer = -1;
  for (const ParameterBlock& block : blocks) {
    if (block.layer != layer) sizes.push_back(0);
    layer = block.layer;
    sizes.back() += block.size();
  }
  return sizes;
}

/// Blank.
template <class T>
std::shared_ptr<Posterior<T>> layerwise_moment_posterior(const Network<T>& network, Index rank) {
  const Graph<T>& graph = *network.graph();
  return create_posterior<T>({Family::layerwise_low_rank_moment,
                              graph.parameters(),
                              rank,
                              layer_sizes_of(graph.blocks()),
                              {},
                              point_parameters_of<T>(network)});
}

}  // namespace bdl::testing
