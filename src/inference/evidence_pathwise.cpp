// Gradients through the draws themselves (curvature "mc-reparam"): of the mean and the standard deviations of
// diagonal Gaussians, of all parameters of low-rank-moment ones, and of the mean under dropout's masks.
#include <algorithm>

#include "base/profile.hpp"
#include "inference/evidence.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
void EvidenceEstimator<T>::draw_masked(const DropoutPosterior<T>& q, DrawSource<T>& draws, DrawPlace place) {
  const auto masks = masks_.matrix(q.units(), samples_);
  draws.masks(q, place, masks);
  for (Index s = 0; s < samples_; ++s)
    q.apply(masks.column(s), q.mean().data(), thetas_.data() + s * dimension_);
}

/// The gradients g_s at theta_s = mu + sigma eps_s, scaled, give sum_s g_s with respect to mu and
/// sum_s g_s eps_s with respect to sigma, which is sigma H.
template <class T>
Evidence<T> EvidenceEstimator<T>::reparametrized(const Posterior<T>& q, const Estimate<T>& estimate) {
  const StageTimer timer(Stage::sums);
  if (const auto* dropout = find_dropout(q)) return masked(*dropout, estimate);
  const auto part = sample_gradient_.first(dimension_);
  const T *mean = q.mean().data(), *g = part.data();
  T *sum = gradient_.data(), *h = diagonal_.data();
  for (Index s = 0; s < samples_; ++s) {
    rows_->sum_sample(s, samples_, estimate.c, part);
    const T* theta = thetas().column_data(s);
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA {
      const T product = g[i] * (theta[i] - mean[i]);
      sum[i] = s == 0 ? g[i] : sum[i] + g[i];
      h[i] = s == 0 ? product : h[i] + product;
    });
  }
  q.precision_diagonal(part);
  for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { h[i] *= g[i]; });
  return {gradient_.first(dimension_),
          {nullptr, {}, {}, diagonal_.first(dimension_)},
          estimate.expected_log_likelihood};
}

/// theta_s is the mean times masks, so the mean's gradient is theta_s's times the same masks.
template <class T>
Evidence<T> EvidenceEstimator<T>::masked(const DropoutPosterior<T>& q, const Estimate<T>& estimate) {
  const auto part = sample_gradient_.first(dimension_), gradient = gradient_.first(dimension_);
  const auto masks = masks_.matrix(q.units(), samples_);
  const T* const g = part.data();
  T* const sum = gradient.data();
  for (Index s = 0; s < samples_; ++s) {
    rows_->sum_sample(s, samples_, estimate.c, part);
    q.apply(masks.column(s), g, part.data());
    for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { sum[i] = s == 0 ? g[i] : sum[i] + g[i]; });
  }
  return {gradient, {}, estimate.expected_log_likelihood};
}

/// There are no parameters at which it was computed: each example has draws of its own.
template <class T>
Evidence<T> EvidenceEstimator<T>::noisy(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                        const Options& options, double weight, DrawPlace place) {
  samples_ = 0;
  has_gradient_ = false;
  statistics_size_ = std::ssize(q.statistics());
  std::ranges::copy(q.statistics(), statistics_.data());
  const NoisyEstimate<T> estimate =
      noisy_->estimate(q, x, y, options, weight, place.step,
                       {q.statistics(), statistics_.first(statistics_size_)}, place.shard);
  outputs_ = noisy_->outputs();
  noise_gradient_ = estimate.gradient;
  return {noise_gradient_.mean, {}, estimate.expected_log_likelihood, &noise_gradient_};
}

#define BDL_INSTANTIATE(T)                                                                                \
  template void EvidenceEstimator<T>::draw_masked(const DropoutPosterior<T>&, DrawSource<T>&, DrawPlace); \
  template Evidence<T> EvidenceEstimator<T>::reparametrized(const Posterior<T>&, const Estimate<T>&);     \
  template Evidence<T> EvidenceEstimator<T>::masked(const DropoutPosterior<T>&, const Estimate<T>&);      \
  template Evidence<T> EvidenceEstimator<T>::noisy(const Posterior<T>&, ConstMatrixView<T>,               \
                                                   ConstMatrixView<T>, const Options&, double, DrawPlace);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
