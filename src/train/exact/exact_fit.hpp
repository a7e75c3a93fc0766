// Training by the methods exact-*: iterations over all data, each an epoch, to the optimum of the ELBO.
#pragma once

#include <functional>

#include "train/course.hpp"

namespace bdl {

/// Distance from the optimum, in posterior standard deviations, up to which a fit has converged.
inline constexpr double near_optimum = 1e-4;

/// The number of shards, and callbacks after an iteration of a search: agreement of the ranks on its
/// result, and the caller's progress function.
struct ExactCalls {
  Index shards;
  std::function<void()> agree;
  const Progress& progress;
};

/// Fits by these methods: makes at most `epochs` iterations from the present posterior, fewer if the
/// optimum is reached. The data are all N rows; each rank reads those of its shards. The caller must tell
/// other ranks of failures between messages (Team::telling).
template <class T>
Status fit_exactly(Optimizer<T>& optimizer, DataSet& data, Index epochs, const ExactCalls& calls);

}  // namespace bdl
