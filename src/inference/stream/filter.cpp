#include "inference/stream/filter.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "linalg/dot.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// What option "mean_update" means for a posterior.
template <class T>
MeanUpdate mean_update(const Options& options, const Posterior<T>& q, bool online) {
  if (options.mean_update != MeanUpdateOption::automatic)
    return options.mean_update == MeanUpdateOption::projected ? MeanUpdate::projected
                                                              : MeanUpdate::unprojected;
  const bool low_rank = q.family() == Family::low_rank && q.rank() > 0;
  return online && low_rank ? MeanUpdate::unprojected : MeanUpdate::projected;
}

/// What option "indefinite" means for a posterior: improved where that was measured to be better
/// (docs/mathematics/guard.md, "The improved Bayesian learning rule").
template <class T>
Indefinite indefinite(const Options& options, const Posterior<T>& q, bool online) {
  if (options.indefinite != Indefinite::automatic) return options.indefinite;
  const EstimateKind kind = options.curvature;
  const bool is_better =
      kind == EstimateKind::mc_reparam || (kind == EstimateKind::mc_hess && !online && q.is_diagonal());
  return is_better ? Indefinite::improved : Indefinite::shorten;
}

/// Inner iterations after the first leave the prior.
bool takes_several(const Options& options) {
  return has_kl(options.rule) && options.iterations > 1;
}

}  // namespace

template <class T>
void check_mean_finite(const Posterior<T>& q, const char* event, Index number) {
  const auto mean = q.mean();
  T square = 0;
  with_simd([&](auto width)
                BDL_INLINE_LAMBDA { square = dot<width()>(mean.data(), mean.data(), q.dimension()); });
  if (std::isfinite(square)) return;
  const auto diverged = std::ranges::find_if_not(mean, [](T value) { return std::isfinite(value); });
  if (diverged != mean.end())
    fail(Status::ERROR_DIVERGED, "parameter %lld (counting from 0) is not finite after %s %lld",
         static_cast<long long>(diverged - mean.begin()), event, static_cast<long long>(number));
}

template <class T>
PosteriorStep<T> begin_step(const Posterior<T>& from, const Options& options, bool online,
                            const StreamKey& random) {
  PosteriorStep<T> step{from};
  step.descent = descent_of(options.rule);
  step.mean_update = mean_update(options, from, online);
  step.low_rank_update = options.low_rank_update;
  step.indefinite = indefinite(options, from, online);
  step.projection = projection_options(options);
  step.random = random;
  return step;
}

template <class T>
void Filter<T>::set_process_noise(ConstSpan<T> noise) {
  fixed_noise_.reserve(static_cast<Index>(noise.size()));
  fixed_ = static_cast<Index>(noise.size());
  std::ranges::copy(noise, fixed_noise_.data());
}

template <class T>
bool Filter<T>::is_noisy(const Options& options) const {
  if (fixed_ == 0) return options.process_noise > 0;
  return std::ranges::any_of(process_noise(), [](T value) { return value > 0; });
}

/// A belief that is none of those in use.
template <class T>
Posterior<T>& Filter<T>::spare(const Posterior<T>& like, const Posterior<T>* a, const Posterior<T>* b) {
  for (auto& belief : beliefs_) {
    if (belief && (belief.get() == a || belief.get() == b)) continue;
    if (!belief) belief = like.clone();
    return *belief;
  }
  fail(Status::ERROR_INTERNAL, "no spare belief");
}

template <class T>
bool Filter<T>::is_static(const Options& options) const {
  return options.transition == 1 && options.forgetting == 1 && !is_noisy(options);
}

/// k steps at once: Sigma <- f^k Sigma + (1 + f + ... + f^(k-1)) Q.
template <class T>
Posterior<T>& Filter<T>::predict(Posterior<T>& q, Index steps, const Options& options) {
  const double gamma = options.transition, factor = gamma * gamma / options.forgetting;
  if (steps == 0 || is_static(options)) return q;
  const double count = static_cast<double>(steps);
  const double repeats = factor == 1   ? count
                         : factor == 0 ? 1
                                       : std::expm1(count * std::log(factor)) / (factor - 1);
  Drift<T> drift{std::pow(gamma, count), std::pow(factor, count), {}};
  if (is_noisy(options)) {
    noise_.reserve(q.dimension());
    for (Index i = 0; i < q.dimension(); ++i)
      noise_.data()[i] = static_cast<T>(
          repeats * (fixed_ > 0 ? static_cast<double>(fixed_noise_.data()[i]) : options.process_noise));
    drift.noise = noise_.first(q.dimension());
  }
  if (!drift.noise.empty()) q.reserve_noise();
  Posterior<T>& later = spare(q, &q, nullptr);
  later.drift(q, drift, workspace_);
  check_mean_finite(later, "time", steps);
  later.set_blank(false);
  return later;
}

template <class T>
Posterior<T>& Filter<T>::update(const Posterior<T>& prior, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                const Options& options, EvidenceEstimator<T>& evidence, DrawSource<T>& draws,
                                Index step, Index& shortened) {
  const auto rule = options.rule;
  const Index iterations = has_kl(rule) ? options.iterations : 1;
  const Posterior<T>* from = &prior;
  Posterior<T>* to = nullptr;
  double least = 1;
  for (Index i = 0; !to || i < iterations; ++i, from = to) {
    const StreamKey random{static_cast<std::uint64_t>(options.seed), Stream::range_finder,
                           static_cast<std::uint64_t>(step), static_cast<std::uint32_t>(i) << 20};
    to = &spare(prior, &prior, from);
    const Evidence<T> seen = evidence.assess(*from, x, y, options, 1, draws, {step, i}, workspace_.scratch);
    least = std::min(least, iterate(prior, *from, seen, options, random, *to));
    check_mean_finite(*to, "observation", step + 1);
  }
  if (least < 1) ++shortened;
  to->set_blank(false);
  return *to;
}

/// m = gradient + [KL] Lambda_0 (mu - mu_0), then the family's map.
template <class T>
double Filter<T>::iterate(const Posterior<T>& prior, const Posterior<T>& from, const Evidence<T>& evidence,
                          const Options& options, const StreamKey& random, Posterior<T>& to) {
  const auto rule = options.rule;
  const double rate = rule == Rule::bong ? 1 : options.learning_rate;
  const bool away = has_kl(rule) && &from != &prior;
  ConstSpan<T> slope = evidence.gradient;
  if (away) {
    const Index dimension = prior.dimension();
    const std::span<T> shift = slope_.first(dimension), m{slope_.data() + dimension, shift.size()};
    std::ranges::transform(from.mean(), prior.mean(), shift.begin(), std::minus<>());
    prior.multiply_precision(shift, m, workspace_.scratch);
    std::ranges::transform(m, evidence.gradient, m.begin(), std::plus<>());
    slope = m;
  }
  PosteriorStep<T> step = begin_step(from, options, true, random);
  step.m = slope;
  step.curvature = evidence.curvature;
  step.mean_rate = step.curvature_rate = rate;
  step.prior = has_kl(rule) ? &prior : nullptr;
  step.goes_on = takes_several(options) && !away;
  return to.take(step, workspace_);
}

template <class T>
StepSize Filter<T>::step_size(const Posterior<T>& q, const RowsCost& cost, const Options& options,
                              bool leaves) const {
  PosteriorStep<T> step = begin_step(q, options, true, {});
  step.prior = has_kl(options.rule) ? &q : nullptr;
  StepSize size = size_of(step);
  size.has_rows = gives_rows(options.curvature);
  if (size.has_rows) size.rows = cost;
  size.leaves_prior = leaves;
  size.goes_on = takes_several(options) && !leaves;
  size.after_noise = is_noisy(options);
  if (leaves) size.most_rate = options.learning_rate;
  return size;
}

template <class T>
RowsUse Filter<T>::use_of_rows(const Posterior<T>& q, const RowsCost& cost, const Options& options) const {
  const RowsUse first = q.use_of_rows(step_size(q, cost, options, false));
  return takes_several(options) ? first.joined(q.use_of_rows(step_size(q, cost, options, true))) : first;
}

template <class T>
void Filter<T>::reserve(const Posterior<T>& q, const RowsCost& cost, const Options& options, Passage time) {
  const bool several = takes_several(options);
  const int beliefs = (time.changes ? 1 : 0) + (several ? 2 : 1);
  for (int k = 0; k < beliefs; ++k) reserve_copy(q, beliefs_[k]);
  if (time.has_noise) {
    noise_.reserve(q.dimension());
    if (!MemoryPlan::is_active())  // plans count them as bytes_to_grow()
      for (int k = 0; k < beliefs; ++k) beliefs_[k]->reserve_noise();
  }
  if (time.changes) q.reserve_drift(time.has_noise, workspace_);
  const StepSize step = step_size(q, cost, options, false);
  if (MemoryPlan::is_active()) MemoryPlan::add((1 + beliefs) * q.bytes_to_grow(step));  // q's as well
  q.reserve_step(step, workspace_);
  if (!several) return;
  slope_.reserve(2 * q.dimension());
  q.reserve_step(step_size(q, cost, options, true), workspace_);
}

#define BDL_INSTANTIATE(T)                                                  \
  template class Filter<T>;                                                 \
  template void check_mean_finite(const Posterior<T>&, const char*, Index); \
  template PosteriorStep<T> begin_step(const Posterior<T>&, const Options&, bool, const StreamKey&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
