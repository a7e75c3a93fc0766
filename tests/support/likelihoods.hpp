// The likelihoods of docs/theory/likelihoods.md in every size that differs, with targets for them.
#pragma once

#include <vector>

#include "likelihood/likelihood.hpp"
#include "support/dense.hpp"

namespace bdl::testing {

inline Likelihood gaussian(Index outputs, const std::vector<double>& precision) {
  Likelihood out(BDL_GAUSSIAN, outputs);
  out.set_noise_precision(precision);
  return out;
}

/// R with correlations of both signs between all outputs.
inline Dense correlated_noise(Index outputs) {
  Random random(static_cast<std::uint64_t>(outputs));
  const Dense b = random.normal(outputs, outputs);
  return 0.3 * identity(outputs) + b * transposed(b);
}

inline Likelihood correlated_gaussian(Index outputs) {
  const Dense r = correlated_noise(outputs);
  Likelihood out(BDL_GAUSSIAN, outputs);
  out.set_noise_covariance(NoiseCovariance({r.values.data(), outputs, outputs}));
  return out;
}

/// Returns a heteroscedastic likelihood with a target for each precision.
inline Likelihood heteroscedastic_noise(const std::vector<double>& precision, bool free = true) {
  Likelihood out(BDL_HETEROSCEDASTIC, 2 * static_cast<Index>(precision.size()));
  out.set_noise_precision(precision);
  out.free_log_precision(free);
  return out;
}

/// Those whose Hessian never depends on y.
inline std::vector<Likelihood> all_likelihoods() {
  return {gaussian(1, {2.5}),
          gaussian(3, {0.7}),
          gaussian(3, {0.5, 2, 30}),
          correlated_gaussian(1),
          correlated_gaussian(3),
          Likelihood(BDL_BERNOULLI, 1),
          Likelihood(BDL_BERNOULLI, 3),
          Likelihood(BDL_CATEGORICAL, 2),
          Likelihood(BDL_CATEGORICAL, 4),
          Likelihood(BDL_POISSON, 1),
          Likelihood(BDL_POISSON, 2)};
}

/// Valid targets of one example.
inline Dense random_targets(const Likelihood& likelihood, Random& random) {
  Dense y(likelihood.targets(), 1);
  for (double& value : y.values) switch (likelihood.target_kind()) {
      case TargetKind::real:
        value = random.normal();
        break;
      case TargetKind::label:
        value = random.uniform() < 0.5;
        break;
      case TargetKind::choice:
      case TargetKind::level:
        value = std::floor(random.uniform() * static_cast<double>(likelihood.moment_count()));
        break;
      case TargetKind::count:
        value = std::floor(random.uniform() * 6);
        break;
      case TargetKind::positive:
        value = std::exp(random.normal());
        break;
    }
  return y;
}

}  // namespace bdl::testing
