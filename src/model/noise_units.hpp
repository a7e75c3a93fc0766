// Gaussian noise in the caller's units: a model's likelihood has that of standardised targets.
#pragma once

#include "model/model.hpp"

namespace bdl {

/// One value, or one per target: also where one value is shared by standardised targets whose scales differ.
std::vector<double> caller_noise_precision(const Likelihood& likelihood,
                                           const Standardization& standardization);
/// The likelihood's precisions for one value, shared by the targets, or one per target in the caller's units.
/// Fails with ERROR_INVALID_ARGUMENT where one would not be a positive number.
std::vector<double> standardized_noise_precision(ConstSpan<double> values, Index targets,
                                                 const Standardization& standardization);

/// C x C, diagonal unless the likelihood has a full covariance.
std::vector<double> caller_noise_covariance(const Likelihood& likelihood,
                                            const Standardization& standardization);
NoiseCovariance standardized_noise_covariance(ConstMatrixView<double> covariance,
                                              const Standardization& standardization);

/// Noise that somebody has set stays as it is in the caller's units. On failure nothing has changed.
template <class T>
void set_standardization(Model<T>& model, Standardization standardization);

}  // namespace bdl
