#include "train/exact/scales/scale_search.hpp"

#include <algorithm>
#include <cmath>

#include "train/exact/accelerated.hpp"
#include "train/scales.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

/// Learned noise has at least this fraction of the targets' variance.
constexpr double least_noise = 1e-12;

/// Replaces a noise covariance by its diagonal.
void learn_noises_apart(const LearnedFit& fit) {
  const ConstSpan<double> now = fit.likelihood.noise_precision();
  Likelihood next = fit.likelihood;
  next.learn_noise_precision(std::vector<double>(now.begin(), now.end()));
  fit.set(std::move(next));
}

}  // namespace

template <class T>
ScaleSearch<T>::ScaleSearch(ExactElbo& elbo, Posterior<double>& q, Optimizer<T>& optimizer, DataSet& data)
    : optimizer_(optimizer),
      fit_{elbo,
           q,
           optimizer.model()->likelihood,
           optimizer.team,
           optimizer.options(),
           optimizer.data_weight(),
           has_intercept(*optimizer.model()),
           optimizer.state.step > 0} {
  const Options& options = optimizer.options();
  const bool learns_noise = options.learn_noise && fit_.likelihood.learns_gaussian_noise();
  if (options.learn_shape && has_shape(fit_.likelihood.kind())) shape_.emplace(fit_);
  if (learns_noise) most_noise_precision_ = 1 / (least_noise * variance_of_targets(optimizer, data));
  if (options.learn_prior && !optimizer.prior().is_fixed())
    prior_.emplace(optimizer, elbo, q, learns_noise, most_noise_precision_);
  else if (learns_noise)
    noise_.emplace(fit_, most_noise_precision_);
}

template <class T>
SearchEnd ScaleSearch<T>::run(const Iterated& iterated) {
  const auto inner = [&](const Iterated& each) {
    return shape_ ? shape_->run(each) : noise_ ? run_with_noise(each) : fit_.find_posterior(each);
  };
  return prior_ ? prior_->run(inner, iterated) : inner(iterated);
}

/// True if R may be learned: the caller has said nothing of the noise, and q can hold what it does.
template <class T>
bool ScaleSearch<T>::learns_covariance() const {
  const auto noises = static_cast<Index>(fit_.likelihood.noise_precision().size());
  return fit_.likelihood.noise_origin() != NoiseOrigin::caller && noises == fit_.likelihood.targets() &&
         has_whole_covariance(fit_.q);
}

/// Finds independent noises first: their residuals tell whether a covariance can be learned. It cannot if its
/// fit leaves no noise in a combination of the outputs.
template <class T>
SearchEnd ScaleSearch<T>::run_with_noise(const Iterated& iterated) {
  if (!fit_.likelihood.noise_covariance().given()) {
    const SearchEnd end = noise_->run(iterated);
    if (end == SearchEnd::stopped || !learns_covariance()) return end;
    fit_.elbo.evaluate(fit_.q);
    if (!CovarianceSearch(fit_).has_enough_data()) return end;
  }
  covariance_.emplace(fit_);
  const SearchEnd end = covariance_->run(iterated);
  if (!covariance_->is_singular()) return end;
  covariance_.reset();
  learn_noises_apart(fit_);
  noise_.emplace(fit_, most_noise_precision_);
  return noise_->run(iterated);
}

template <class T>
double ScaleSearch<T>::distance() {
  double largest = distance_of_posterior(fit_.elbo, fit_.q);
  if (shape_) largest = std::max(largest, shape_->distance());
  if (prior_) largest = std::max(largest, prior_->distance());
  if (covariance_)
    largest = std::max(largest, covariance_->distance());
  else if (noise_)
    largest = std::max(largest, noise_->distance());
  return largest;
}

template <class T>
void ScaleSearch<T>::count_degrees() {
  if (!noise_ && !(prior_ && fit_.likelihood.learns_gaussian_noise() && fit_.options.learn_noise)) return;
  if (prior_) fit_.elbo.evaluate(fit_.q);
  fit_.likelihood.set_noise_degrees(fit_.elbo.noise_degrees(prior_.has_value()));
}

template class ScaleSearch<float>;
template class ScaleSearch<double>;

}  // namespace bdl
