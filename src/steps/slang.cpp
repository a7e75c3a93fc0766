// SLANG (Mishkin et al. 2018, Algorithm 1): natural-gradient steps of a Gaussian with precision Sigma^-1 = U
// U^T + diag(d). In the paper's symbols, with the rates alpha and beta, the step from (mu, U, d) is
//
//   theta_s ~ N(mu, Sigma)                                      the samples (evidence.cpp)
//   g, G = [g_1 ... g_n]                                        their gradients, scaled by N / (M S)
//   V = fast_eig((1 - beta) U U^T + beta G G^T, L)              the leading eigenpairs: the next U
//   d <- (1 - beta) d + beta lambda + Delta                     Delta keeps the diagonal of the precision
//   mu <- mu - alpha Sigma (g + lambda mu)                      by Woodbury, with the next Sigma
//
// Posteriors of other families map the same loss, with gradient m = g + Lambda_0 (mu - mu_0) and curvature G
// G^T, to their own parameters (posterior/): for a full covariance these are the steps of VON, for a diagonal
// one those of Vprop's kind. docs/mathematics/natural-gradients.md derives all of them.
#include "base/profile.hpp"
#include "methods/rule.hpp"
#include "steps/averages.hpp"
#include "steps/begin_step.hpp"

namespace bdl {
namespace {

/// Returns m: the gradient with momentum, plus Lambda_0 (mu - mu_0); for point parameters the slope over its
/// mean square.
template <class T>
ConstSpan<T> slope(const StepInput<T>& in, const Evidence<T>& evidence, ConstSpan<T> gradient,
                   Averages<T>& averages) {
  const MomentumTerms terms = momentum_terms(in.options, averages.momentum.steps() + 1);
  const auto m = in.scratch.template take<T>(in.dimension());
  in.prior.slope(in.q.mean(), static_cast<T>(terms.factor), averages.momentum.next(terms, gradient), m,
                 in.scratch);
  if (!evidence.point_squares.empty())
    averages.point_squares.divide(in.q.point_parameters(), evidence.point_squares, in.rates.curvature,
                                  in.data_size, in.options.point_damping, m);
  return m;
}

/// Moves the covariance first: the guard asks how far that lets the gradient of each example move the
/// example's own outputs.
template <class T>
StepResult guarded_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                        PosteriorStep<T>& step, Posterior<T>& next) {
  StepResult result;
  const bool together = step.mean_update == MeanUpdate::unprojected;  // mean and covariance move at once
  if (together) {
    const auto zeros = in.scratch.template take<T>(in.dimension());
    std::ranges::fill(zeros, T(0));
    step.m = zeros;
  }
  result.fraction = next.update(step, in.scratch);
  const Posterior<T>& metric = next.moves_by_former_covariance() ? in.q : next;
  const auto c = in.guard.scale(*in.likelihood, evidence, metric, result.fraction * step.mean_rate,
                                in.options.guard, in.scratch);
  result.held = in.guard.has_held();
  Evidence<T> guarded = evidence;
  guarded.estimate.c = c;
  if (result.held) guarded.gradient = {};
  step.m = slope(in, evidence, gradient_of(guarded, in.scratch), averages);
  if (together)
    result.fraction = next.update(step, in.scratch);
  else
    move_mean_by(next, in.q, metric, result.fraction * step.mean_rate, step.m, in.scratch);
  return result;
}

}  // namespace

template <class T>
StepResult slang_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                      Posterior<T>& next) {
  const StreamKey random{static_cast<std::uint64_t>(in.options.seed), Stream::range_finder,
                         static_cast<std::uint64_t>(in.number - 1), 0};
  PosteriorStep<T> step = begin_step(in.q, in.options, false, random);
  step.curvature = evidence.curvature;
  step.mean_rate = in.rates.mean;
  step.curvature_rate = in.rates.curvature;
  in.prior.enter(step);
  StepResult result;
  if (in.likelihood && in.options.guard > 0 && in.options.rule == Rule::blr) {
    result = guarded_step(in, evidence, averages, step, next);
  } else {
    step.m = slope(in, evidence, gradient_of(evidence, in.scratch), averages);
    result.fraction = next.update(step, in.scratch);
  }
  check_mean_finite(next, "step", in.number);
  result.kept = std::max(0.0, 1 - result.fraction * in.rates.curvature);
  return result;
}

template StepResult slang_step(const StepInput<float>&, const Evidence<float>&, Averages<float>&,
                               Posterior<float>&);
template StepResult slang_step(const StepInput<double>&, const Evidence<double>&, Averages<double>&,
                               Posterior<double>&);

}  // namespace bdl
