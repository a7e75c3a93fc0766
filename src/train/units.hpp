// Units learned from the targets before a step: noise, scales and limits.
#pragma once

#include <vector>

#include "ranks/strata.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Returns the mean of Var(y) over the targets, standardised; of y^2 if the targets do not vary (a single
/// example); 1 if these are 0.
double target_variance(DataSet& data, const Standardization& units, const RowExtras& extras = {});
/// Returns Var(y) of each target alone; missing targets (NaN) do not count.
std::vector<double> target_variances(DataSet& data, const Standardization& units,
                                     const RowExtras& extras = {});
/// Returns the squares of robust_moments_of_targets(), or Var(y) where these are 0.
std::vector<double> robust_variances(DataSet& data, const Standardization& units,
                                     const RowExtras& extras = {});
/// Returns target_variance() over the shards of all ranks; of Student-t noise the mean over shards of robust
/// ones.
template <class T>
double variance_of_targets(Optimizer<T>& optimizer, DataSet& data);

/// Sets the mean weight of a row of the data set, or of the first minibatch, in batch_y(). Fails with
/// ERROR_INVALID_ARGUMENT if all weights are 0. Without weights it does nothing.
template <class T>
void start_weights(Optimizer<T>& optimizer, DataSet& data, Index shards);

/// Sets the noise precision from which learning starts, or which stays if noise is not learned, to
/// initial_noise_precision / Var(y), unless the caller has set it.
template <class T>
void start_noise(Optimizer<T>& optimizer, DataSet& data);
/// Sets the shape of the density from which learning starts, or which stays if it is not learned, by the
/// moments of the targets, and the intercept of a network for log means to the log of their mean, unless the
/// caller has set the shape.
template <class T>
void start_shape(Optimizer<T>& optimizer, DataSet& data);
/// Sets a noise precision for each target separately, also in streams, unless the caller has set it or the
/// stream will know the scales.
template <class T>
void start_noises(Optimizer<T>& optimizer, DataSet& data);

/// Updates target scales and limits from the targets of a data set, of the minibatch in batch_y(), or of a
/// block of a stream. Returns true if scales changed: the caller must then fill the targets again.
template <class T>
bool start_units(Optimizer<T>& optimizer, DataSet& data);
template <class T>
bool start_units(Optimizer<T>& optimizer, const StepExamples& examples);
template <class T>
bool start_units(Optimizer<T>& optimizer, ConstMatrixView<T> y);

}  // namespace bdl
