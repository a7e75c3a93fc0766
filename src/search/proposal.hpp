// Points to try next. Each is a function of the seed, its number, and the trials before it, so a search that
// is continued later makes the same points.
#pragma once

#include "search/batch.hpp"
#include "search/gaussian_process.hpp"
#include "search/space.hpp"

namespace bdl {

/// Returns a uniformly random point.
std::vector<double> random_point(const Space& space, std::uint64_t seed, Index number);

/// Returns the point with the greatest expected improvement over the trials, by a Gaussian process; a random
/// point as long as fewer than two trials have a score, or if every point has been tried. Pending trials
/// count with the scores that the process expects of them ("kriging believer": Ginsbourger, Le Riche, Carraro
/// 2010).
std::vector<double> promising_point(const Space& space, ConstSpan<Trial> trials, ConstSpan<Trial> pending,
                                    std::uint64_t seed);

/// Returns the observations of the process, one for each point: scores are standardised; failures count as
/// the worst score, and scores far below the median are raised to a worst one.
Observations observations_of(const Space& space, ConstSpan<Trial> trials);

}  // namespace bdl
