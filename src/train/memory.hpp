// Estimate of the memory that an optimizer will hold: arithmetic on the sizes of its steps.
//
// A minibatch of M examples at S samples with K seeds has n = M S K curvature rows, or M in a generalised
// linear model, whose rows are merged. With D parameters and rank L an optimizer holds, beside the model and
// the posterior that the caller has given it,
//
//   copies      posteriors: the result of a step and the last good state; in streams, those of the filter
//   averages    gradients, and their squares or curvatures, at present and next: D numbers each
//   prior       D precisions; of a posterior as prior also the products of its columns with the rows
//   minibatch   inputs and targets
//   estimator   coefficients of n rows, and what the rows are made of: the tape of a forward and a backward
//               pass (values and sensitivities of all places in the network), n rows of D numbers in a model
//               of the caller's, or the noise of each layer and its gradient
//   rows        temporary numbers of products with the rows: the largest of all layers
//   guard       the inputs and sensitivities of a few gradients
//   shards      a sum for each level of the tree over the shards, and the rows as messages
//   scratch     its peak: the samples of the evidence (S D numbers) and, above them, the largest of
//                 - a draw
//                 - samples that scales are learned from
//                 - gradient and slopes (1 to 4 times D numbers), and the map of the family. For a low rank,
//                   the map needs the Gram matrix of L + n columns and its eigenpairs, or a D x D matrix and
//                   its eigenpairs, or two bases of a range finder (somewhat more than L columns); for full
//                   covariances some D x D matrices; for K-FAC the eigenpairs of a layer's factors
//                 - the guard's products, up to 5 D numbers for a low rank
//
// Methods exact-* hold a block of rows, sums over rows for each level of the tree, a posterior in double, and
// the larger of a natural step and of the pairs of steps that L-BFGS keeps.
//
// Terms below a few per cent are left out. Products with matrices of D rows have a block for each part of the
// rows (linalg/tall/tall_blocks.hpp), which matters for small D. tests/inference/alone compare the sum with
// what is held, for all methods: it is never less, and at most a quarter more.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

/// Returns an upper estimate of the bytes of all arrays that the optimizer holds once it has stepped on
/// minibatches of so many examples (on so many rows, without a model), beside model and posterior. For the
/// methods exact-* it is the most that a fit holds.
template <class T>
Index memory_estimate(const Optimizer<T>& optimizer, Index minibatch);

}  // namespace bdl
