// Laplace's approximation (MacKay 1992; Ritter, Botev, Barber 2018) as training makes it: a Gaussian around
// the mean whose precision is the curvature of all data plus the prior's precision, in the posterior's
// family, and prior and noise by its evidence (Immer et al. 2021). laplace/approximation.hpp is the
// approximation itself.
#pragma once

#include "train/approximate/laplace/approximation.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Fails with ERROR_UNSUPPORTED for families without such an approximation, and if option eigen_method asks
/// for a Gram matrix of too many examples.
template <class T>
void check_laplace(const Optimizer<T>& optimizer, Index examples);

/// Replaces the covariance of the optimizer's posterior by the approximation's, with prior and noise by the
/// evidence if option "evidence" asks and `may_learn`; the mean stays. The data, checked, count as N
/// examples, and are added up by so many shards: each rank reads the rows of its shards. All ranks call it
/// within Team::telling. On failure nothing has changed.
template <class T>
void take_laplace(Optimizer<T>& optimizer, DataSet& data, Index shards, bool may_learn);

/// True if the evidence moves prior or noise at the end of this epoch of fit.
template <class T>
bool evidence_is_due(const Optimizer<T>& optimizer);
/// Moves prior (option "evidence" during) and noise towards the optimum of the evidence at the present mean;
/// at the end of fit, where only a mode is learned, noise to the optimum.
template <class T>
void learn_by_evidence(Optimizer<T>& optimizer, DataSet& data, Index shards);
/// True if fit learns the noise by the evidence at the ends of epochs, and not in its steps: errors at a mode
/// are too small by its effective parameters.
template <class T>
bool evidence_learns_noise(const Optimizer<T>& optimizer);

/// Returns log Z of the last approximation, of targets in the caller's units, for precisions of the prior's
/// groups and a factor on the noise. Fails with ERROR_UNSUPPORTED if something has changed since.
template <class T>
LogEvidence evidence_of(const Optimizer<T>& optimizer, const GroupedPrecisions& prior, double noise_factor);
/// Sets prior, noise and covariance to the optimum of the evidence of the last approximation.
template <class T>
EvidenceOptimum maximize_evidence(Optimizer<T>& optimizer, const EvidenceSearch& search);
/// Returns the nats that a Newton step from the mean would gain on these data.
template <class T>
double mode_gap(const Optimizer<T>& optimizer, DataSet& data);

}  // namespace bdl
