// Distance of words, by which messages suggest the nearest known word.
#pragma once

#include <cstddef>
#include <string_view>

namespace bdl {

/// Returns the Levenshtein distance.
std::size_t word_distance(std::string_view a, std::string_view b);

}  // namespace bdl
