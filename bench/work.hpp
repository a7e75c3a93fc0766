// The least work of an operation, counted by formula, and what a measurement says about it.
#pragma once

#include <cstdint>
#include <vector>

#include "record.hpp"
#include "timing.hpp"

namespace bench {

/// The work of a step: floating-point operations, and bytes that cross the memory bus where the caches are
/// smaller.
struct Work {
  double flops, bytes;
};

/// A network's widths, minibatch M, samples S and rank L.
struct Shape {
  std::vector<std::int64_t> sizes;
  std::int64_t minibatch, samples, rank;
};

/// D: every layer has a bias.
std::int64_t parameters(const std::vector<std::int64_t>& sizes);

Work slang_step_work(const Shape& shape, double scalar_bytes);
Work sample_work(std::int64_t dimension, std::int64_t rank, std::int64_t samples, double scalar_bytes);
Work solve_work(std::int64_t dimension, std::int64_t rank, std::int64_t vectors, double scalar_bytes);
Work predict_work(const std::vector<std::int64_t>& sizes, std::int64_t examples, std::int64_t samples,
                  double scalar_bytes);

/// Adds times to a record, then rates and the bound max(flops / peak, bytes / bandwidth) by the limits it
/// holds.
void add_timing(Record& record, const Timing& timing);
void add_rates(Record& record, Work work);

}  // namespace bench
