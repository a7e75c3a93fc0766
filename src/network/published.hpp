// Networks of papers as descriptions.
#pragma once

#include <span>
#include <string>

#include "network/shape.hpp"

namespace bdl {

struct PublishedNetwork {
  const char *name, *doc, *source;
  Shape input;  ///< and the number of outputs, as published
  Index outputs;
  std::string (*layers)();  ///< all but the inputs and the last layer
};

std::span<const PublishedNetwork> published_networks();

/// Fails with ERROR_INVALID_ARGUMENT, offering the nearest name.
const PublishedNetwork& find_published_network(std::string_view name);

/// Whether the input fits shows when the text is read.
std::string description_of(const PublishedNetwork& network, const Shape& input, Index outputs);

}  // namespace bdl
