// Checks any text that is given as a network's description.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "curvature/blocked_rows.hpp"

namespace fuzz {

/// Forward, backward, and the rows' sums: every number is written, and finite as the inputs are small.
inline bool runs(const bdl::Graph<float>& graph) {
  constexpr bdl::Index examples = 2, most = 1 << 16;
  if (graph.parameters() > most || graph.inputs() > most || graph.scratch_size(examples) > 16 * most)
    return true;
  const auto d = static_cast<std::size_t>(graph.parameters());
  std::vector<float> theta(d, 1e-3f), x(static_cast<std::size_t>(examples * graph.inputs()), 0.5f),
      f(static_cast<std::size_t>(examples * graph.outputs())), sum(d), squares(d);
  std::vector<double> statistics(static_cast<std::size_t>(graph.statistics_size()), 1.0);
  const std::vector<float> ones(examples, 1.0f);
  bdl::Tape<float> tape;
  bdl::NetworkRows<float> rows(graph);
  graph.forward({theta.data(), graph.parameters(), 1}, {x.data(), graph.inputs(), examples}, tape,
                {f.data(), graph.outputs(), examples}, nullptr, {statistics, {}});
  const auto seeds = graph.seeds(tape, examples);
  std::fill_n(seeds.data, seeds.size(), 1.0f);
  graph.backward({theta.data(), graph.parameters(), 1}, tape, 1);
  rows.assign(tape, 1);
  rows.sum_and_squares(ones, sum, ones, squares);
  rows.sum_squares(ones, squares);
  return true;
}

/// Known to be a description, or refused as one.
inline bool description_is_right(std::string_view text) {
  try {
    const bdl::Graph<float> graph(text);
    const bdl::Graph<float> again(graph.description());
    return again.description() == graph.description() && again.parameters() == graph.parameters() &&
           runs(graph);
  } catch (const bdl::Error& error) {
    return error.status() == bdl::Status::ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace fuzz
