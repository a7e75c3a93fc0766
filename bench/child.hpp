// Cases run in processes of their own.
#pragma once

#include <vector>

#include "record.hpp"

namespace bench {

/// Runs this program again with argument --child and the record's words, and its `threads` in BLAS's
/// environment; the lines it prints. Throws if it fails.
std::vector<Record> run_child(const Record& parameters);

}  // namespace bench
