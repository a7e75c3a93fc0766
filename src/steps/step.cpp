#include "steps/step.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/dot.hpp"
#include "methods/schedule.hpp"
#include "steps/averages.hpp"

namespace bdl {

namespace {

/// Returns how the mean moves: as option "mean_update" says, or its automatic choice for this posterior.
template <class T>
MeanUpdate mean_update(const Options& options, const Posterior<T>& q, bool is_stream) {
  if (options.mean_update != MeanUpdateOption::automatic)
    return options.mean_update == MeanUpdateOption::projected ? MeanUpdate::projected
                                                              : MeanUpdate::unprojected;
  const bool low_rank = q.family() == Family::low_rank && q.rank() > 0;
  return is_stream && low_rank ? MeanUpdate::unprojected : MeanUpdate::projected;
}

/// Returns how indefinite steps are treated. Option "indefinite" = "automatic" means "improved" where that
/// was measured to be better (docs/theory/guard.md, "The improved Bayesian learning rule").
template <class T>
Indefinite indefinite(const Options& options, const Posterior<T>& q, bool is_stream) {
  if (options.indefinite != Indefinite::automatic) return options.indefinite;
  const EstimateKind kind = options.curvature;
  const bool is_better =
      kind == EstimateKind::mc_reparam || (kind == EstimateKind::mc_hess && !is_stream && q.is_diagonal());
  return is_better ? Indefinite::improved : Indefinite::shorten;
}

}  // namespace

template <class T>
PosteriorStep<T> begin_step(const Posterior<T>& from, const Options& options, bool is_stream,
                            const StreamKey& random) {
  PosteriorStep<T> step{from};
  step.descent = descent_of(options.rule);
  step.mean_update = mean_update(options, from, is_stream);
  step.low_rank_update = options.low_rank_update;
  step.indefinite = indefinite(options, from, is_stream);
  step.projection = projection_options(options);
  step.random = random;
  return step;
}

template <class T>
StepResult take_step(StepKind kind, const StepInput<T>& in, const Evidence<T>& evidence,
                     Averages<T>& averages, Posterior<T>* next) {
  switch (kind) {
    case StepKind::natural_gradient:
      return slang_step(in, evidence, averages, *next);
    case StepKind::mean:
      return mean_step(in, evidence, averages);
    case StepKind::diagonal:
      return diagonal_step(in, evidence, averages, *next);
    case StepKind::low_rank_moment:
      return low_rank_moment_step(in, evidence, averages, *next);
    case StepKind::vogn:
      return vogn_step(in, evidence, averages, *next);
    case StepKind::ivon:
      return ivon_step(in, evidence, averages, *next);
    case StepKind::kfac:
      return kfac_step(in, evidence, averages, *next);
  }
  fail(Status::ERROR_INTERNAL, "step kind is %d, which does not exist", static_cast<int>(kind));
}

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
void natural_gradient_step(Posterior<T>& q, DenseRows<T>& rows, double scale, double learning_rate,
                           double curvature_rate, ConstSpan<T> prior_precision) {
  if (!q.point_parameters().is_empty())
    fail(Status::ERROR_UNSUPPORTED,
         "the posterior has point parameters, which gradient rows cannot move: train its network instead");
  const Index dimension = q.dimension(), count = rows.count();
  Buffer<T> weights(count), slope(dimension);
  const auto w = weights.first(count), m = slope.first(dimension);
  std::ranges::fill(w, static_cast<T>(scale));
  rows.sum(w, m);
  auto prior = Prior<T>::fixed(prior_precision);
  Scratch scratch;
  prior.add_slope(std::as_const(q).mean(), m, scratch);
  PosteriorStep<T> step{q};
  step.m = m;
  step.curvature = {&rows, w, {}, {}};
  step.mean_rate = learning_rate;
  step.curvature_rate = curvature_rate;
  prior.enter(step);
  step.indefinite = Indefinite::error;  // the caller could not learn that a step was shortened
  step.projection.method = dimension < q.rank() + count ? EigenMethod::outer : EigenMethod::gram;
  const auto next = q.clone();
  next->update(step, scratch);
  if (!std::ranges::all_of(next->mean(), [](T value) { return std::isfinite(value); }))
    fail(Status::ERROR_DIVERGED, "the mean is not finite after the step");
  next->set_blank(false);
  q.swap(*next);
}

#define BDL_INSTANTIATE(T)                                                                           \
  template StepResult take_step(StepKind, const StepInput<T>&, const Evidence<T>&, Averages<T>&,     \
                                Posterior<T>*);                                                      \
  template void check_mean_finite(const Posterior<T>&, const char*, Index);                          \
  template PosteriorStep<T> begin_step(const Posterior<T>&, const Options&, bool, const StreamKey&); \
  template void natural_gradient_step(Posterior<T>&, DenseRows<T>&, double, double, double, ConstSpan<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
