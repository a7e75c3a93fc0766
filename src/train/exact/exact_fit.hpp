// Training by the methods exact-*: iterations over all data, each an epoch, to the optimum of the ELBO.
#pragma once

#include <functional>

#include "train/course.hpp"

namespace bdl {

/// What a search calls after an iteration: the ranks' agreement on where it has come to, and the caller.
struct ExactCalls {
  Index shards;
  std::function<void()> agree;
  const Progress& progress;
};

/// fit() for them: at most `epochs` iterations from the present posterior, fewer where the optimum is
/// reached. The data are all N rows, of which each rank has those of its shards. What fails on one rank
/// between messages is to be told by the caller (Team::telling).
template <class T>
Status fit_exactly(Optimizer<T>& optimizer, DataSet& data, Index epochs, const ExactCalls& calls);

}  // namespace bdl
