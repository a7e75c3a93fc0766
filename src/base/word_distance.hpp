// How far two words are apart, to offer the nearest of those that are known.
#pragma once

#include <cstddef>
#include <string_view>

namespace bdl {

/// Levenshtein distance.
std::size_t word_distance(std::string_view a, std::string_view b);

}  // namespace bdl
