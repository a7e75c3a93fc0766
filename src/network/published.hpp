// The networks of some papers, as descriptions.
#pragma once

#include <span>
#include <string>

#include "network/shape.hpp"

namespace bdl {

struct PublishedNetwork {
  const char *name, *doc, *source;
  Shape input;              ///< the published one
  Index outputs;            ///< the published number
  std::string (*layers)();  ///< returns the description of all but the inputs and the last layer
};

std::span<const PublishedNetwork> published_networks();

/// Fails with ERROR_INVALID_ARGUMENT if there is none of this name, offering the nearest one.
const PublishedNetwork& find_published_network(std::string_view name);

/// Returns the whole description. Inputs that do not fit fail when the description is read.
std::string description_of(const PublishedNetwork& network, const Shape& input, Index outputs);

}  // namespace bdl
