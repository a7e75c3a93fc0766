#include "model/noise_units.hpp"

#include <cmath>
#include <limits>

namespace bdl {

std::vector<double> caller_noise_precision(const Likelihood& likelihood,
                                           const Standardization& standardization) {
  const auto standardized = likelihood.noise_precision();
  const bool shared = standardized.size() == 1 && standardization.is_isotropic();
  std::vector<double> values;
  for (Index c = 0; c < (shared ? 1 : likelihood.targets()); ++c)
    values.push_back(likelihood.noise_precision(c) / standardization.variance_to_caller(c, 1));
  return values;
}

std::vector<double> standardized_noise_precision(ConstSpan<double> values, Index targets,
                                                 const Standardization& standardization) {
  const bool shared = values.size() == 1 && standardization.is_isotropic();
  std::vector<double> standardized;
  for (Index c = 0; c < (shared ? 1 : targets); ++c) {
    const double value = values[values.size() == 1 ? 0 : static_cast<std::size_t>(c)];
    standardized.push_back(standardization.variance_to_caller(c, value));
    if (!(standardized.back() > 0 && std::isfinite(standardized.back())))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the noise precision of output %lld (counting from 0) is %g, and %g after standardisation: "
           "expected a positive finite number",
           static_cast<long long>(c), value, standardized.back());
  }
  return standardized;
}

std::vector<double> caller_noise_covariance(const Likelihood& likelihood,
                                            const Standardization& standardization) {
  const NoiseCovariance& noise = likelihood.noise_covariance();
  const Index outputs = likelihood.outputs();
  std::vector<double> values(static_cast<std::size_t>(outputs * outputs));
  const MatrixView<double> covariance(values.data(), outputs, outputs);
  for (Index c = 0; c < outputs; ++c)
    if (noise.given())
      for (Index b = 0; b < outputs; ++b)
        covariance(b, c) = standardization.variance_to_caller(b, c, noise.covariance()(b, c));
    else
      covariance(c, c) = standardization.variance_to_caller(c, likelihood.noise_variance(c));
  return values;
}

NoiseCovariance standardized_noise_covariance(ConstMatrixView<double> covariance,
                                              const Standardization& standardization) {
  std::vector<double> values(static_cast<std::size_t>(covariance.size()));
  const MatrixView<double> standardized(values.data(), covariance.rows, covariance.cols);
  for (Index c = 0; c < covariance.cols; ++c)
    for (Index b = 0; b < covariance.rows; ++b)
      standardized(b, c) = covariance(b, c) / standardization.variance_to_caller(b, c, 1);
  return NoiseCovariance(standardized);
}

template <class T>
void set_standardization(Model<T>& model, Standardization standardization) {
  Likelihood likelihood = model.likelihood;
  const Index outputs = likelihood.outputs();
  if (likelihood.noise_covariance().given()) {
    const auto values = caller_noise_covariance(likelihood, model.standardization);
    likelihood.set_noise_covariance(
        standardized_noise_covariance({values.data(), outputs, outputs}, standardization),
        likelihood.noise_origin());
  } else if (likelihood.noise_is_set()) {
    const auto values = caller_noise_precision(likelihood, model.standardization);
    likelihood.set_noise_precision(
        standardized_noise_precision(values, likelihood.targets(), standardization),
        likelihood.noise_origin());
  }
  // The limit is meant in units of the targets' scales.
  if (likelihood.kind() == BDL_HETEROSCEDASTIC && !standardization.has_targets())
    likelihood.set_limit(std::numeric_limits<double>::infinity());
  model.likelihood = std::move(likelihood);
  model.standardization = std::move(standardization);
  model.standardization.set_offsets(model.features(), model.offsets());
}

template void set_standardization(Model<float>&, Standardization);
template void set_standardization(Model<double>&, Standardization);

}  // namespace bdl
