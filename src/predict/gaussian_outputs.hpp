// Methods of prediction for which q(f | x) is a Gaussian in C dimensions.
#pragma once

#include "predict/mixture.hpp"

namespace bdl {

/// Returns how many items of `size` elements a limit allows: at least 1, at most `count`.
Index fitting(Index limit, Index size, Index count);

/// Returns `count` weights of 1 / count.
template <class T>
ConstSpan<double> equal_weights(Index count, PredictMemory<T>& memory);

/// Calls visit(i, f(x_i; mu), J Sigma J^T) for each example in turn (see LinearizedOutputs). The values may
/// have overflowed.
using GaussianVisitor = FunctionRef<void(Index, ConstSpan<double>, ConstMatrixView<double>)>;
template <class T>
void visit_gaussian_outputs(const Query<T>& query, PredictMemory<T>& memory, GaussianVisitor visit,
                            const ChunkLimits& limits = {});

/// Method quadrature: f is linear in theta.
template <class T>
void visit_quadrature(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                      const ChunkLimits& limits);

/// Method linearized: one Gaussian component.
template <class T>
void visit_linearized(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                      const ChunkLimits& limits);

/// Returns a Gaussian component as a mixture over nodes, if the likelihood integrates by nodes; else the
/// mixture itself. Each output has its own mean and variance at the same nodes, so that what depends on one
/// output is right. The result lives in the memory.
template <class T>
Mixture at_nodes(const Likelihood& likelihood, const Mixture& mixture, PredictMemory<T>& memory);

/// Method linearized_monte_carlo: f_s = f(x; mu) + (J Sigma J^T)^1/2 z_s, with equal normals z_s for every
/// example. Each sample has a stream, with step 1 (draws of the parameters have step 0).
template <class T>
void visit_linearized_samples(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                              const ChunkLimits& limits);

/// Draws the normals z_s unless the memory has them.
template <class T>
void draw_normals(const Query<T>& query, PredictMemory<T>& memory);

}  // namespace bdl
