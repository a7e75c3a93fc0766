#include <algorithm>
#include <cmath>
#include <span>

#include "likelihood/kinds/heteroscedastic.hpp"
#include "likelihood/limited_rates.hpp"
#include "likelihood/linearized_density.hpp"
#include "predict/gaussian_outputs.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

struct MomentRows {
  std::span<double> mean, epistemic, noise;  // one number for each mean of y
};

/// Computes the moments of a mixture, the epistemic variance from deviations instead of a difference of
/// squares.
void mixture_moments(const Likelihood& likelihood, const Mixture& mixture, Buffer<double>& scratch,
                     const MomentRows& out) {
  const Index outputs = likelihood.moment_count(), count = mixture.components();
  const auto numbers = scratch.matrix(outputs, count + 1), means = numbers.columns(0, count);
  double* const variances = numbers.column_data(count);
  for (const auto& row : {out.mean, out.epistemic, out.noise}) std::ranges::fill(row, 0.0);
  for (Index k = 0; k < count; ++k) {
    likelihood.moments(mixture.f.column_data(k), means.column_data(k), variances);
    for (std::size_t c = 0; c < out.mean.size(); ++c) {
      out.mean[c] += mixture.weight(k) * means.column(k)[c];
      out.noise[c] += mixture.weight(k) * variances[c];
    }
  }
  for (Index k = 0; k < count; ++k)
    for (std::size_t c = 0; c < out.mean.size(); ++c) {
      const double deviation = means.column(k)[c] - out.mean[c];
      out.epistemic[c] += mixture.weight(k) * deviation * deviation;
    }
  for (double& variance : out.epistemic)  // NaN if means are infinite
    if (std::isnan(variance)) variance = overflow::infinity;
}

/// Writes the moments of an example whose outputs are unknown.
void overflowed_moments(const Likelihood& likelihood, const Mixture& mixture, const MomentRows& out) {
  if (has_classes(likelihood)) overflow::fill_classes(likelihood, out.mean);
  for (std::size_t c = 0; c < out.mean.size(); ++c) {
    const auto output = static_cast<Index>(c);
    if (has_classes(likelihood)) {
      out.epistemic[c] = 0;
      out.noise[c] = out.mean[c] * (1 - out.mean[c]);
      continue;
    }
    out.mean[c] = overflow::expected(likelihood, overflow::mean(mixture, output));
    out.epistemic[c] = out.noise[c] = overflow::infinity;
    if (likelihood.kind() == BDL_GAUSSIAN) out.noise[c] = likelihood.noise_variance(output);
  }
}

/// Computes moments if y has the conditional mean f, e^f (log-normal) or a probability. With E[sigma(f)] =
/// sigma(kappa m) for all m, E[sigma (1 - sigma)] = E[sigma'(f)] = dE[sigma(f)] / dm = kappa p (1 - p), also
/// for each class of a softmax.
void gaussian_moments(const Likelihood& likelihood, const Mixture& mixture, Buffer<double>& scratch,
                      const MomentRows& out) {
  const Index outputs = mixture.f.rows;
  double* const f = scratch.first(outputs).data();
  std::ranges::copy(mixture.f.column(0), f);
  if (has_classes(likelihood)) probit_logits(mixture.f.column(0), mixture.covariance, f);
  likelihood.moments(f, out.mean.data(), out.noise.data());
  for (std::size_t c = 0; c < out.mean.size(); ++c) {
    const double v = mixture.variance(static_cast<Index>(c));
    if (likelihood.kind() == BDL_GAUSSIAN || likelihood.kind() == BDL_STUDENT_T) {
      out.epistemic[c] = v;
    } else if (likelihood.kind() == BDL_HETEROSCEDASTIC) {
      out.epistemic[c] = v;
      out.noise[c] = heteroscedastic::expected_noise_variance(likelihood, mixture.f.column(0),
                                                              mixture.covariance, static_cast<Index>(c));
    } else if (likelihood.kind() == BDL_POISSON) {
      const RateMoments rate = rate_moments(mixture.f(static_cast<Index>(c), 0), v, likelihood.limit());
      out.mean[c] = out.noise[c] = rate.mean;
      out.epistemic[c] = rate.variance;
    } else {
      const ProbitScale scale = probit_scale(v);
      out.epistemic[c] = scale.complement * out.noise[c];
      out.noise[c] *= scale.kappa;
    }
  }
}

void to_caller(const Standardization& standardization, const MomentRows& out) {
  for (std::size_t c = 0; c < out.mean.size(); ++c) {
    const auto output = static_cast<Index>(c);
    out.mean[c] = standardization.to_caller(output, out.mean[c]);
    for (const auto& variance : {out.epistemic, out.noise})
      variance[c] = standardization.variance_to_caller(output, variance[c]);
  }
}

}  // namespace

template <class T>
void predict_moments(const Query<T>& query, const OutArray& mean, const OutArray& epistemic_variance,
                     const OutArray& noise_variance) {
  check_query(query);
  const Likelihood& likelihood = query.model.likelihood;
  if (given(noise_variance) && likelihood.kind() == BDL_STUDENT_T && likelihood.degrees_of_freedom() <= 2)
    fail(Status::ERROR_UNSUPPORTED,
         "Student-t noise with %g degrees of freedom has no variance: ask for quantiles or intervals",
         likelihood.degrees_of_freedom());
  const Index rows = query.x.rows, outputs = likelihood.moment_count();
  const MemoryOf<T> memory(query);
  Result means(memory->results[0], mean, rows, outputs, "mean");
  Result epistemic(memory->results[1], epistemic_variance, rows, outputs, "epistemic_variance");
  Result noise(memory->results[2], noise_variance, rows, outputs, "noise_variance");
  visit_mixtures(query, [&](Index i, const Mixture& found) {
    const Mixture mixture = at_nodes(likelihood, found, *memory);
    const MomentRows out{means.row(i), epistemic.row(i), noise.row(i)};
    if (mixture.overflows)
      overflowed_moments(likelihood, mixture, out);
    else
      (mixture.is_gaussian() ? gaussian_moments : mixture_moments)(likelihood, mixture, memory->numbers, out);
    if (!query.posterior.has_covariance() && !mixture.overflows) std::ranges::fill(out.epistemic, 0.0);
    to_caller(query.model.standardization, out);
  });
  write_predictions(means, epistemic, noise);
}

template void predict_moments(const Query<float>&, const OutArray&, const OutArray&, const OutArray&);
template void predict_moments(const Query<double>&, const OutArray&, const OutArray&, const OutArray&);

template <class T>
void predict_output_distribution(const Query<T>& query, const OutArray& mean, const OutArray& covariance) {
  check_query(query);
  if (given(covariance) && !query.posterior.has_covariance())
    fail(Status::ERROR_UNSUPPORTED,
         "training has found a mode, which has no covariance: take method \"laplace\", or ask for the mean "
         "only");
  const Index rows = query.x.rows, outputs = query.model.outputs();
  const MemoryOf<T> memory(query);
  Result means(memory->results[0], mean, rows, outputs, "mean");
  Result covariances(memory->results[1], covariance, rows, outputs * outputs, "covariance");
  const Standardization& standardization = query.model.standardization;
  visit_gaussian_outputs<T>(query, *memory, [&](Index i, ConstSpan<double> m, ConstMatrixView<double> s) {
    double *mean_out = means.row(i).data(), *covariance_out = covariances.row(i).data();
    const auto known = [](double value) { return std::isnan(value) ? overflow::infinity : value; };
    for (Index c = 0; c < outputs; ++c) {
      *mean_out++ = known(standardization.to_caller(c, m[static_cast<std::size_t>(c)]));
      for (Index b = 0; b < outputs; ++b)
        *covariance_out++ = known(standardization.variance_to_caller(c, b, s(b, c)));  // symmetric
    }
  });
  write_predictions(means, covariances);
}

template void predict_output_distribution(const Query<float>&, const OutArray&, const OutArray&);
template void predict_output_distribution(const Query<double>&, const OutArray&, const OutArray&);

}  // namespace bdl
