#include "train/approximate/laplace/laplace_evidence.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {
namespace {

/// Returns the sum of noise precisions times squared errors at the noise in the curvature.
double misfit_of(const EvidenceData& data) {
  double sum = 0;
  for (std::size_t c = 0; c < data.fit.squared_errors.size() && !data.noise.empty(); ++c)
    sum += data.noise[data.noise.size() == 1 ? 0 : c] * data.fit.squared_errors[c];
  return sum;
}

/// Returns the number of targets with such noise.
double observed_in(const EvidenceData& data) {
  double sum = 0;
  if (data.noise.empty()) return sum;
  for (const double count : data.fit.observed) sum += count;
  return sum;
}

/// Writes the slopes and second derivatives (docs/theory/evidence.md, "Derivatives"), where `misfit` is
/// the sum of precisions times squared errors, and `observed` the number of targets.
void differentiate(const GroupedPrecisions& prior, double temperature, double misfit, double observed,
                   EvidenceSums& sums, LogEvidence& out) {
  const Index groups = prior.groups(), order = groups + 1;
  out.slope.assign(at(order), 0);
  out.second.assign(at(order * order), 0);
  std::vector<double> sizes(at(groups));
  for (const Index g : prior.group)
    if (g >= 0) sizes[at(g)] += 1;
  double kept = 0, squares = 0;
  for (Index g = 0; g < groups; ++g) {
    const double effective = sums.traces[at(g)], kept_here = sizes[at(g)] - effective;
    double squares_here = 0;
    for (Index h = 0; h < groups; ++h) {
      out.second[at(g * order + h)] = sums.square(g, h) / 2;
      squares_here += sums.square(g, h);
    }
    out.slope[at(g)] = (effective - out.weights[at(g)]) / 2;
    out.second[at(g * order + g)] -= (out.weights[at(g)] + kept_here) / 2;
    out.second[at(g * order + groups)] = out.second[at(groups * order + g)] = (kept_here - squares_here) / 2;
    kept += kept_here;
    squares += squares_here;
  }
  out.slope[at(groups)] = (observed - misfit) / (2 * temperature) - sums.effective / 2;
  out.second[at(order * order - 1)] = -misfit / (2 * temperature) - (kept - squares) / 2;
}

}  // namespace

double log_likelihood(const EvidenceData& data, double noise_factor) {
  return data.fit.log_likelihood + observed_in(data) * std::log(noise_factor) / 2 -
         (noise_factor - 1) * misfit_of(data) / 2;
}

template <class T>
LogEvidence log_evidence(const LaplaceCurvature<T>& curvature, const EvidenceData& data,
                         const GroupedPrecisions& prior, double noise_factor, bool derivatives) {
  EvidenceSums sums;
  curvature.sums(prior, data.scale(noise_factor), derivatives, sums);
  LogEvidence out;
  out.weights.assign(at(prior.groups()), 0);
  for (std::size_t j = 0; j < prior.group.size(); ++j)
    if (prior.group[j] >= 0)
      out.weights[at(prior.group[j])] += prior.at(j) * data.deviation[j] * data.deviation[j];
  out.log_likelihood = log_likelihood(data, noise_factor);
  out.effective_parameters = sums.effective;
  out.value = out.log_likelihood / data.temperature - sums.log_det / 2;
  for (const double weight : out.weights) out.value -= weight / 2;
  if (derivatives)
    differentiate(prior, data.temperature, noise_factor * misfit_of(data), observed_in(data), sums, out);
  out.effective = std::move(sums.traces);
  return out;
}

template LogEvidence log_evidence(const LaplaceCurvature<float>&, const EvidenceData&,
                                  const GroupedPrecisions&, double, bool);
template LogEvidence log_evidence(const LaplaceCurvature<double>&, const EvidenceData&,
                                  const GroupedPrecisions&, double, bool);

}  // namespace bdl
