// SLANG (Mishkin et al. 2018): natural-gradient steps of a Gaussian with precision Sigma^-1 = U U^T +
// diag(d). The lines of the paper's Algorithm 1, with the constants of its equations (4) to (11), for S
// samples, M of N examples and c = N / (M S):
//
//    4  theta_s ~ N(mu, Sigma)                                  EvidenceEstimator::draw(), evidence/
//    6  g_i: gradients of the examples at theta_s               evidence.curvature.rows, curvature/
//    7  U' <- fast_eig((1 - beta) U U^T + beta c sum_i g_i g_i^T, L)                      (6), (7)
//    8  Delta <- diag((1 - beta) U U^T + beta c sum_i g_i g_i^T - U' U'^T)                (9)
//   10  d' <- (1 - beta) d + beta lambda + Delta                                          (10)
//   11  g <- c sum_i g_i + lambda (mu - mu_0)                   slope(), which averages the sum by momentum
//   13  mu' <- mu - alpha Sigma' g                              with Sigma' by Woodbury   (11)
//
// Line 11 needs nothing of lines 7 to 10 and may be computed before them. Option "guard" (the default) makes
// them come first, and scales the g_i of line 11: guarded_step(). The families with a full or a diagonal
// covariance map the same gradient and curvature to their parameters in one function, Posterior::update():
// the steps of VON; by rule "bbb" they go down the plain gradient. docs/theory/natural-gradients.md
// derives all of them.
#include "methods/schedule.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "steps/averages.hpp"
#include "steps/guard.hpp"

namespace bdl {
namespace {

/// True if the step is SLANG's, lines 7 to 13 above. Other options average eigenpairs, or have a prior with a
/// low-rank factor.
template <class T>
bool is_slang_step(const PosteriorStep<T>& step) {
  const bool is_low_rank = step.from.family() == Family::low_rank && step.from.rank() > 0;
  return is_low_rank && step.curvature.rows && !step.prior && step.descent == Descent::natural &&
         step.mean_update == MeanUpdate::projected && step.low_rank_update == LowRankUpdate::projected;
}

/// Takes lines 7 to 13, or the update of another family or option in their place; the mean stays if there is
/// no slope step.m. Returns the fraction of the step that was taken.
template <class T>
double update_posterior(const PosteriorStep<T>& step, Posterior<T>& next, Scratch& scratch) {
  if (!is_slang_step(step)) return next.update(step, scratch);
  const auto& q = as_low_rank(step.from);
  auto& slang = static_cast<LowRankPosterior<T>&>(next);
  const double beta = step.curvature_rate, keep = 1 - beta;
  const auto w = scaled_weights(step.curvature, beta, scratch);
  slang.fast_eig(q, keep, *step.curvature.rows, w, step.projection, step.random, scratch);
  slang.correct_diagonal(q, keep, beta, *step.curvature.rows, w, step.prior_precision);
  slang.factorize(scratch);
  slang.move_mean(q, step.mean_rate, step.m, scratch);
  return 1;
}

/// Returns the g of line 11: the gradient with momentum, plus Lambda_0 (mu - mu_0). Point parameters have no
/// covariance, so their slope is divided by the mean square of their gradients.
template <class T>
ConstSpan<T> slope(const StepInput<T>& in, const Evidence<T>& evidence, ConstSpan<T> gradient,
                   Averages<T>& averages) {
  const MomentumTerms terms = momentum_terms(in.options, averages.momentum.steps() + 1);
  const ConstSpan<T> momentum = averages.momentum.next(terms, gradient);
  const auto m = in.scratch.template take<T>(in.dimension());
  in.prior.slope(in.q.mean(), static_cast<T>(terms.bias_correction), momentum, m, in.scratch);
  if (!evidence.point_squares.empty())
    averages.point_squares.divide(in.q.point_parameters(), evidence.point_squares, in.rates.curvature,
                                  in.data_size, in.options.point_damping, m);
  return m;
}

/// Takes lines 7 to 10 first: the guard needs Sigma' to know how far the gradient of each example would move
/// that example's outputs. Then takes lines 11 and 13.
template <class T>
StepResult guarded_step(const StepInput<T>& in, const Evidence<T>& evidence, PosteriorStep<T>& step,
                        Averages<T>& averages, Posterior<T>& next) {
  StepResult result;
  const bool moves_together = step.mean_update == MeanUpdate::unprojected;  // mean and covariance
  if (moves_together) {
    const auto zeros = in.scratch.template take<T>(in.dimension());
    std::ranges::fill(zeros, T(0));
    step.m = zeros;
  }
  result.fraction = update_posterior(step, next, in.scratch);
  const Posterior<T>& metric = next.moves_by_former_covariance() ? in.q : next;
  const double rate = result.fraction * step.mean_rate;
  const auto [c, held] = guard_examples(*in.likelihood, evidence, metric, rate, in.options.guard, in.scratch);
  Evidence<T> guarded = evidence;
  guarded.estimate.c = c;
  if (held) guarded.gradient = {};
  step.m = slope(in, evidence, gradient_of(guarded, in.scratch), averages);
  if (moves_together)
    result.fraction = next.update(step, in.scratch);
  else
    move_mean_by(next, in.q, metric, rate, step.m, in.scratch);
  result.held = held;
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
    result = guarded_step(in, evidence, step, averages, next);
  } else {
    step.m = slope(in, evidence, gradient_of(evidence, in.scratch), averages);
    result.fraction = update_posterior(step, next, in.scratch);
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
