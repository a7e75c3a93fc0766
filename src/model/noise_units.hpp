// Converts Gaussian noise between the caller's units and those of standardised targets, which the likelihood
// has.
#pragma once

#include "model/model.hpp"

namespace bdl {

/// Returns one value, or one per target if the scales of targets differ.
std::vector<double> caller_noise_precision(const Likelihood& likelihood,
                                           const Standardization& standardization);
/// Returns the likelihood's precisions for one value, or one per target, in the caller's units. Fails with
/// ERROR_INVALID_ARGUMENT unless all are positive numbers.
std::vector<double> standardized_noise_precision(ConstSpan<double> values, Index targets,
                                                 const Standardization& standardization);

/// Returns a C x C covariance, diagonal unless the likelihood has a full one.
std::vector<double> caller_noise_covariance(const Likelihood& likelihood,
                                            const Standardization& standardization);
NoiseCovariance standardized_noise_covariance(ConstMatrixView<double> covariance,
                                              const Standardization& standardization);

/// Sets means and scales. Noise that has been set keeps its value in the caller's units. Changes nothing on
/// failure.
template <class T>
void set_standardization(Model<T>& model, Standardization standardization);

}  // namespace bdl
