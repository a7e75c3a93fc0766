// Leverages g^T Sigma g: how far the gradient g of a single example moves its own outputs, for the guard of
// natural-gradient steps (docs/theory/guard.md). Low-rank and diagonal posteriors have a bound that
// costs about one forward pass of a network; what is exact is found where it may matter.
#pragma once

#include "curvature/rows.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Writes out_j >= g_j^T Sigma g_j for the gradients g_j = sum_k z_r b_r of single examples (ExampleRows),
/// infinite for families that have no bound. Returns true if they are equal.
template <class T>
bool bound_leverages(const Posterior<T>& q, ExampleRows<T>& rows, ConstSpan<T> z, std::span<double> out,
                     Scratch& scratch);

/// Writes g_j^T Sigma g_j exactly for the j of `which`, where `out` holds the bounds.
template <class T>
void find_leverages(const Posterior<T>& q, ExampleRows<T>& rows, ConstSpan<T> z, ConstSpan<Index> which,
                    std::span<double> out, Scratch& scratch);

}  // namespace bdl
