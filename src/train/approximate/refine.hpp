// The refined posterior of a regression: Laplace's approximation at the trained mean, full or of rank 50,
// with its prior by the evidence. Diagonal and low-rank posteriors are too wide where there are data, as they
// leave out correlations between parameters, and too narrow between and beyond them (Foong et al. 2020;
// docs/theory/predictions.md, "The refined posterior").
#pragma once

#include "train/scales/linearized_evidence.hpp"

namespace bdl {

/// True if fits of this optimizer end with a refinement.
template <class T>
bool refines(const Optimizer<T>& optimizer);

/// Gives the posterior its refinement, and the noise the value that suits it. All ranks call it within
/// Team::telling. On failure nothing has changed.
template <class T>
void take_refinement(Optimizer<T>& optimizer, DataSet& data, LinearizedEvidence<T>& evidence, Index shards);

}  // namespace bdl
