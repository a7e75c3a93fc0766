#include "train/approximate/laplace/approximation.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {

template <class T>
LaplaceApproximation<T>::LaplaceApproximation(const Model<T>& model, const Posterior<T>& q, Prior<T>& prior,
                                              const CurvatureForm& form, const SharedData& shared)
    : at_(q.clone()),
      prior_(prior.shared_posterior()),
      has_noise_(model.likelihood.kind() == BDL_GAUSSIAN && !model.likelihood.noise_covariance().given()),
      noise_(model.likelihood.noise_precision().begin(), model.likelihood.noise_precision().end()),
      by_errors_(form.fisher == FisherLabels::empirical),
      fit_(fit_at_mean(model, q, shared)),
      curvature_(make_curvature(model, q, prior, form, shared)) {}

template <class T>
double LaplaceApproximation<T>::noise_factor(const Likelihood& likelihood) const {
  return has_noise_ ? likelihood.noise_precision()[0] / noise_[0] : 1;
}

template <class T>
bool LaplaceApproximation<T>::is_at(const Posterior<T>& q, const LaplaceTerms<T>& terms) const {
  constexpr double rounding = 1e-12;
  const auto noise = terms.likelihood.noise_precision();
  const double factor = noise_factor(terms.likelihood);
  bool same = terms.prior.shared_posterior() == prior_ && noise.size() == noise_.size();
  for (std::size_t c = 0; same && c < noise.size(); ++c)
    same = std::abs(noise[c] / (factor * noise_[c]) - 1) < rounding;
  const Posterior<T>& mine = *at_;
  return same && q.family() == mine.family() && std::ranges::equal(q.mean(), mine.mean()) &&
         std::ranges::equal(q.statistics(), mine.statistics());
}

template <class T>
EvidenceData LaplaceApproximation<T>::data(const LaplaceTerms<T>& terms) const {
  EvidenceData data{fit_, {}, terms.temperature, has_noise_ ? noise_ : std::vector<double>(), by_errors_};
  const Posterior<T>& mine = *at_;
  data.deviation.assign(mine.mean().begin(), mine.mean().end());
  if (prior_)
    for (std::size_t j = 0; j < data.deviation.size(); ++j)
      data.deviation[j] -= static_cast<double>(std::as_const(*prior_).mean()[j]);
  return data;
}

template <class T>
LogEvidence LaplaceApproximation<T>::evidence(const LaplaceTerms<T>& terms, const GroupedPrecisions& prior,
                                              double noise_factor, bool derivatives) const {
  const double factor = this->noise_factor(terms.likelihood) * noise_factor;
  if (prior_ && !prior_->is_diagonal()) return evidence_of_posterior(terms, data(terms), factor);
  return log_evidence(*curvature_, data(terms), prior, factor, derivatives);
}

/// Uses the prior's whole precision: its determinant and that of the posterior.
template <class T>
LogEvidence LaplaceApproximation<T>::evidence_of_posterior(const LaplaceTerms<T>& terms,
                                                           const EvidenceData& data,
                                                           double noise_factor) const {
  const auto q = at_->clone();
  curvature_->write(terms.prior, data.scale(noise_factor), *q);
  LogEvidence out;
  out.log_likelihood = log_likelihood(data, noise_factor);
  Scratch scratch;
  Buffer<T> deviation(q->dimension());
  std::ranges::transform(data.deviation, deviation.data(), [](double m) { return static_cast<T>(m); });
  out.value = out.log_likelihood / data.temperature +
              (q->log_det_covariance() - prior_->log_det_covariance()) / 2 -
              prior_->quadratic(std::as_const(deviation).first(q->dimension()), scratch) / 2;
  out.effective_parameters = static_cast<double>(q->dimension()) - prior_->trace_precision(*q, scratch);
  return out;
}

template <class T>
void LaplaceApproximation<T>::check_search(const LaplaceTerms<T>& terms, const EvidenceSearch& search) const {
  if (search.prior && terms.prior.is_fixed())
    fail(
        Status::ERROR_UNSUPPORTED,
        "the prior is fixed, by its precisions or to a posterior: only priors by groups have precisions that "
        "the evidence could choose");
  if (search.prior && prior_ && !prior_->is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "the prior of the intercept joins parameters: beside it the evidence chooses no precisions");
  if (search.noise && prior_ && !prior_->is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "under a prior that is a posterior the evidence does not choose the noise");
  if (search.noise && !has_noise_)
    fail(Status::ERROR_UNSUPPORTED,
         "the evidence chooses the noise of Gaussian likelihoods without covariances of targets only");
  if (search.noise && by_errors_)
    fail(Status::ERROR_UNSUPPORTED,
         "the evidence with option \"fisher\" empirical does not choose the noise: its curvature is made of "
         "the errors; use \"exact\" or \"sampled\"");
}

template <class T>
EvidenceOptimum LaplaceApproximation<T>::maximize(const LaplaceTerms<T>& terms,
                                                  const EvidenceSearch& search) const {
  check_search(terms, search);
  const double factor = noise_factor(terms.likelihood);
  GroupedPrecisions prior = terms.prior.grouped();
  if (!search.prior) prior = prior.joined();
  EvidenceOptimum optimum = maximize_evidence(*curvature_, data(terms), std::move(prior), factor, search);
  optimum.noise_factor /= factor;
  return optimum;
}

template <class T>
void LaplaceApproximation<T>::write(const LaplaceTerms<T>& terms, Posterior<T>& q) const {
  curvature_->write(terms.prior, data(terms).scale(noise_factor(terms.likelihood)), q);
}

template <class T>
double LaplaceApproximation<T>::mode_gap(const LaplaceTerms<T>& terms, const Posterior<T>& q,
                                         const FitAtMean& fit) const {
  Buffer<T> slope(q.dimension());
  std::ranges::transform(fit.gradient, slope.data(),
                         [&](double g) { return static_cast<T>(g / terms.temperature); });
  Scratch scratch;
  terms.prior.add_slope(q.mean(), slope.first(q.dimension()), scratch);
  for (const auto& [offset, size] : q.point_parameters().ranges)
    std::fill_n(slope.data() + offset, size, T(0));
  double square = 0;
  q.variances(slope.matrix(q.dimension(), 1), {&square, 1}, scratch);
  return square / 2;
}

template class LaplaceApproximation<float>;
template class LaplaceApproximation<double>;

}  // namespace bdl
