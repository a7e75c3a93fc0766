// The points that are to be tried next. Each is a function of the seed, of its number, and of the trials
// before it: a search that goes on later makes the same ones.
#pragma once

#include "search/gaussian_process.hpp"
#include "search/space.hpp"
#include "search/trial.hpp"

namespace bdl {

/// Uniformly at random.
std::vector<double> random_point(const Space& space, std::uint64_t seed, Index number);

/// Where the expected improvement over the trials is greatest, by a Gaussian process; at random as long as
/// fewer than two trials have a score, or where every point is tried. Trials that are pending count as if
/// their scores were what the process expects of them (Ginsbourger, Le Riche, Carraro 2010, Kriging is
/// well-suited to parallelize optimization: the kriging believer).
std::vector<double> promising_point(const Space& space, ConstSpan<Trial> trials, ConstSpan<Trial> pending,
                                    std::uint64_t seed);

/// What the process is told, once per point: scores standardised, failures as the worst, and as worst what is
/// far below the median.
Observations observations_of(const Space& space, ConstSpan<Trial> trials);

}  // namespace bdl
