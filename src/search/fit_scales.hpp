// The scales of a Gaussian process: the maximum of its evidence times a weak prior.
#pragma once

#include "search/gaussian_process.hpp"

namespace bdl {

/// log density of the scales' prior up to a constant: independent normals.
double log_prior(const LogScales& scales, std::span<double> gradient);

/// Conditions the process on its most probable scales and returns them.
LogScales fit_scales(GaussianProcess& process);

}  // namespace bdl
