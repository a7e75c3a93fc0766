// Filters (Jones, Chang, Murphy 2024; docs/theory/streams.md): one step of a stream is the passage of
// time, Filter::predict(), and then one observation, Filter::update(). The posterior before the observation
// is the prior N(mu_0, Sigma_0). With the gradient g and the Hessian H of the observation's expected negative
// log likelihood l, the rules of the paper's Table 2 are
//
//   bong   natural gradient of l, once, rate 1:        Sigma^-1 = Sigma_0^-1 + H,  mu = mu_0 - Sigma g
//   blr    natural gradient of l + KL(q || prior), several times
//   bog    plain gradient of l by the posterior's parameters, once
//   bbb    plain gradient of l + KL(q || prior), several times
//
// Option "curvature" chooses how g and H are estimated. Its lin-hess is the paper's linearised Hessian
// (section 4.4): evidence/evidence.hpp has the list, and fill_seeds() of curvature/seeds.cpp makes the rows
// whose products are H. Every family maps g and H to its own parameters by Posterior::update().
#include "steps/bong.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "steps/guard.hpp"
#include "steps/step.hpp"

namespace bdl {
namespace {

/// True if the rule takes several steps for one observation.
bool takes_several(const Options& options) {
  return has_kl(options.rule) && options.iterations > 1;
}

}  // namespace

template <class T>
void Filter<T>::set_process_noise(ConstSpan<T> noise) {
  fixed_ = std::ssize(noise);
  std::ranges::copy(noise, fixed_noise_.first(fixed_).begin());
}

template <class T>
bool Filter<T>::is_noisy(const Options& options) const {
  if (fixed_ == 0) return options.process_noise > 0;
  return std::ranges::any_of(process_noise(), [](T value) { return value > 0; });
}

template <class T>
bool Filter<T>::is_static(const Options& options) const {
  return options.transition == 1 && options.forgetting == 1 && !is_noisy(options);
}

/// Returns a spare posterior that is neither a nor b.
template <class T>
Posterior<T>& Filter<T>::spare(const Posterior<T>& like, const Posterior<T>* a, const Posterior<T>* b) {
  for (auto& posterior : spares_) {
    if (posterior && (posterior.get() == a || posterior.get() == b)) continue;
    if (!posterior) posterior = like.clone();
    return *posterior;
  }
  fail(Status::ERROR_INTERNAL, "no spare posterior");
}

/// Takes k steps of time at once: Sigma <- f^k Sigma + (1 + f + ... + f^(k-1)) Q.
template <class T>
Posterior<T>& Filter<T>::predict(Posterior<T>& q, Index steps, const Options& options, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const double gamma = options.transition, factor = gamma * gamma / options.forgetting;
  if (steps == 0 || is_static(options)) return q;
  const double count = static_cast<double>(steps);
  const double repeats = factor == 1   ? count
                         : factor == 0 ? 1
                                       : std::expm1(count * std::log(factor)) / (factor - 1);
  Drift<T> drift{std::pow(gamma, count), std::pow(factor, count), {}};
  if (is_noisy(options)) {
    const auto noise = scratch.take<T>(q.dimension());
    for (Index i = 0; i < q.dimension(); ++i)
      noise[at(i)] = static_cast<T>(
          repeats * (fixed_ > 0 ? static_cast<double>(fixed_noise_.data()[i]) : options.process_noise));
    drift.noise = noise;
  }
  Posterior<T>& later = spare(q, &q, nullptr);
  later.drift(q, drift, scratch);
  check_mean_finite(later, "time", steps);
  later.set_blank(false);
  return later;
}

template <class T>
auto Filter<T>::update(const Model<T>& model, const Posterior<T>& prior, const Minibatch<T>& observation,
                       const Options& options, EvidenceEstimator<T>& estimator, DrawSource<T>& draws,
                       Scratch& scratch) -> Result {
  const Index iterations = has_kl(options.rule) ? options.iterations : 1, step = observation.place.step;
  const Posterior<T>* from = &prior;
  Posterior<T>* to = nullptr;
  double smallest_fraction = 1;
  bool held = false;
  for (Index i = 0; i < iterations; ++i, from = to) {
    const Scratch::Frame frame(scratch);
    const StreamKey random{static_cast<std::uint64_t>(options.seed), Stream::range_finder,
                           static_cast<std::uint64_t>(step), static_cast<std::uint32_t>(i) << 20};
    Minibatch<T> here = observation;
    here.place.iteration = i;
    to = &spare(prior, &prior, from);
    const Evidence<T> evidence = estimator.estimate(*from, here, options, draws, scratch);
    smallest_fraction =
        std::min(smallest_fraction, inner_step(prior, *from, evidence, options, random, scratch, *to));
    check_mean_finite(*to, "observation", step + 1);
    if (i == iterations - 1 && options.guard > 0)
      held = guard_observation(model, prior, *from, evidence, options.curvature, here.x, scratch, *to);
  }
  to->set_blank(false);
  return {*to, smallest_fraction < 1, held};
}

/// Takes one of the rule's steps: m = g + Lambda_0 (mu - mu_0), and then the family's map. The second term is
/// the gradient of the KL divergence. It is 0 in the first step, which starts from the prior, and in rules
/// without the divergence. Returns the fraction of the step that was taken.
template <class T>
double Filter<T>::inner_step(const Posterior<T>& prior, const Posterior<T>& from, const Evidence<T>& evidence,
                             const Options& options, const StreamKey& random, Scratch& scratch,
                             Posterior<T>& to) {
  const bool is_later_step = has_kl(options.rule) && &from != &prior;
  const ConstSpan<T> gradient = gradient_of(evidence, scratch);
  PosteriorStep<T> step = begin_step(from, options, true, random);
  step.m = gradient;
  if (is_later_step) {
    const auto shift = scratch.take<T>(prior.dimension()), m = scratch.take<T>(prior.dimension());
    std::ranges::transform(from.mean(), prior.mean(), shift.begin(), std::minus<>());
    prior.multiply_precision(shift, m, scratch);
    std::ranges::transform(m, gradient, m.begin(), std::plus<>());
    step.m = m;
  }
  step.curvature = evidence.curvature;
  step.mean_rate = step.curvature_rate = options.rule == Rule::bong ? 1 : options.learning_rate;
  step.prior = has_kl(options.rule) ? &prior : nullptr;
  step.goes_on = takes_several(options) && !is_later_step;
  return to.update(step, scratch);
}

template class Filter<float>;
template class Filter<double>;

}  // namespace bdl
