// Derivatives through the draws (curvature "mc-reparam"): by mean and standard deviations of diagonal
// Gaussians, by all parameters of low-rank-moment posteriors, and by the mean under dropout's masks.
#include <algorithm>

#include "base/profile.hpp"
#include "evidence/evidence.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// At theta_s = mu + sigma eps_s with gradients g_s (which count N / (M S) times), the gradient by mu is
/// sum_s g_s, and H is sum_s g_s eps_s / sigma.
template <class T>
void EvidenceEstimator<T>::differentiate(const Posterior<T>& q, const Samples<T>& samples, Scratch& scratch,
                                         Evidence<T>& evidence) {
  const StageTimer timer(Stage::sums);
  evidence.curvature = {};
  if (const auto* const dropout = find_dropout(q))
    return differentiate_masked(*dropout, samples, scratch, evidence);
  const auto gradient = scratch.take<T>(dimension_), hessian = scratch.take<T>(dimension_),
             of_sample = scratch.take<T>(dimension_);
  const T *const mean = q.mean().data(), *const g = of_sample.data();
  T *const sum = gradient.data(), *const h = hessian.data();
  for (Index s = 0; s < samples.thetas.cols; ++s) {
    rows_->sum_sample(s, samples.thetas.cols, evidence.estimate.c, of_sample);
    const T* const theta = samples.thetas.column_data(s);
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA {
      const T product = g[i] * (theta[i] - mean[i]);
      sum[i] = s == 0 ? g[i] : sum[i] + g[i];
      h[i] = s == 0 ? product : h[i] + product;
    });
  }
  q.precision_diagonal(of_sample);
  for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { h[i] *= g[i]; });
  evidence.gradient = gradient;
  evidence.curvature.diagonal = hessian;
}

/// Since theta_s is the mean times masks, the gradient by the mean is that by theta_s times these masks.
template <class T>
void EvidenceEstimator<T>::differentiate_masked(const DropoutPosterior<T>& q, const Samples<T>& samples,
                                                Scratch& scratch, Evidence<T>& evidence) {
  const auto gradient = scratch.take<T>(dimension_), of_sample = scratch.take<T>(dimension_);
  const T* const g = of_sample.data();
  T* const sum = gradient.data();
  for (Index s = 0; s < samples.thetas.cols; ++s) {
    rows_->sum_sample(s, samples.thetas.cols, evidence.estimate.c, of_sample);
    q.apply(samples.masks.column(s), g, of_sample.data());
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { sum[i] = s == 0 ? g[i] : sum[i] + g[i]; });
  }
  evidence.gradient = gradient;
}

/// Layers draw the noise, so the evidence has no parameter samples and no rows.
template <class T>
Evidence<T> EvidenceEstimator<T>::estimate_noisily(const Posterior<T>& q, const Minibatch<T>& batch,
                                                   const Options& options) {
  if (!noisy_) noisy_ = std::make_unique<NoisyEstimator<T>>(model_);
  const std::span<double> statistics = start_statistics(q);
  const NoisyEstimate<T> estimate =
      noisy_->estimate(q, batch.x, batch.y, options, batch.weight, batch.place.step,
                       {q.statistics(), statistics}, batch.place.shard);
  noise_gradient_ = estimate.gradient;
  Evidence<T> evidence;
  evidence.gradient = noise_gradient_.mean;
  evidence.noise = &noise_gradient_;
  evidence.expected_log_likelihood = estimate.expected_log_likelihood;
  evidence.outputs = noisy_->outputs();
  evidence.statistics = statistics;
  evidence.y = batch.y;
  evidence.weight = batch.weight;
  return evidence;
}

#define BDL_INSTANTIATE(T)                                                                              \
  template void EvidenceEstimator<T>::differentiate(const Posterior<T>&, const Samples<T>&, Scratch&,   \
                                                    Evidence<T>&);                                      \
  template Evidence<T> EvidenceEstimator<T>::estimate_noisily(const Posterior<T>&, const Minibatch<T>&, \
                                                              const Options&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
