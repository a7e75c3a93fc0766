// Queries that an optimizer must answer in any state.
#pragma once

#include <cstdint>
#include <string>

#include "bdl/bdl.h"

namespace fuzz {

/// Asks every getter and estimate that takes nothing but the optimizer, and adds the answers to the hash.
/// Returns what does not hold; "" if nothing.
std::string problem_of_getters(const bdl_optimizer* optimizer, std::uint64_t& hash);

}  // namespace fuzz
