// The methods of prediction for which q(f | x) is a Gaussian in C dimensions.
#pragma once

#include "predict/mixture.hpp"

namespace bdl {

/// How many items of `size` elements a limit allows: at least 1, at most count.
Index fitting(Index limit, Index size, Index count);

/// 1 / count, so many times.
template <class T>
ConstSpan<double> equal_weights(Index count, PredictMemory<T>& memory);

/// Calls visit(i, f(x_i; mu), J Sigma J^T) for one example after the other (see LinearizedOutputs); they may
/// have overflowed.
using GaussianVisitor = FunctionRef<void(Index, ConstSpan<double>, ConstMatrixView<double>)>;
template <class T>
void visit_gaussian_outputs(const Query<T>& query, PredictMemory<T>& memory, GaussianVisitor visit,
                            const ChunkLimits& limits = {});

/// BDL_QUADRATURE: f is linear in theta.
template <class T>
void visit_quadrature(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                      const ChunkLimits& limits);

/// BDL_LINEARIZED: one Gaussian component.
template <class T>
void visit_linearized(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                      const ChunkLimits& limits);

/// BDL_LINEARIZED_MONTE_CARLO: f_s = f(x; mu) + (J Sigma J^T)^1/2 z_s, with the same C normals z_s for every
/// example: a stream per sample, of step 1 (the draws of the parameters have step 0).
template <class T>
void visit_linearized_samples(const Query<T>& query, PredictMemory<T>& memory, MixtureVisitor visit,
                              const ChunkLimits& limits);

/// The normals z_s, unless they are there.
template <class T>
void draw_normals(const Query<T>& query, PredictMemory<T>& memory);

}  // namespace bdl
