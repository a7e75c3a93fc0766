// Changes of a posterior: a step down a loss, and the passage of time.
#pragma once

#include "curvature/rows.hpp"
#include "linalg/tall/low_rank_projection.hpp"
#include "options/choices.hpp"
#include "posterior/kind.hpp"
#include "rng/philox.hpp"

namespace bdl {

template <class T>
class Posterior;

/// Steepest descent of the loss is taken in the metric of the Fisher information (natural gradient) or in
/// that of the family's parameters.
enum class Descent { natural, plain };

/// Covariance by which steps with a low-rank or diagonal precision move the mean: the one after the
/// projection to the family, or the one before it (docs/theory/natural-gradients.md, "Which covariance
/// moves the mean").
enum class MeanUpdate { projected, unprojected };

/// Way to find the factor of a dense matrix that changes by few rank-one terms; tests ask for either.
enum class FactorUpdate { automatic, rotate, refactorize };

/// One step down a loss, minus the expected log likelihood, perhaps plus KL(q || prior), given by its
/// derivatives with respect to (mu, Sigma): m, and M = (H + [KL] (Lambda_0 - Lambda)) / 2
/// (docs/theory/natural-gradients.md, "The loss and its derivatives"). Families map (m, M) to their
/// parameters.
template <class T>
struct PosteriorStep {
  const Posterior<T>& from;  ///< (mu, Sigma)
  Descent descent = Descent::natural;
  ConstSpan<T> m{};          ///< includes Lambda_0 (mu - mu_0) if the loss has the KL; empty: the mean stays
  Curvature<T> curvature{};  ///< H
  double mean_rate = 1, curvature_rate = 1;
  /// Lambda_0 of a posterior of the same family (perhaps `from` itself), or diag(prior_precision); neither if
  /// the loss has no KL.
  const Posterior<T>* prior = nullptr;
  ConstSpan<T> prior_precision{};
  MeanUpdate mean_update = MeanUpdate::projected;
  LowRankUpdate low_rank_update = LowRankUpdate::projected;
  bool goes_on = false;  ///< steps that leave the prior follow, and ask for the result's precision
  Indefinite indefinite = Indefinite::shorten;  ///< treatment of a step that can lose positive definiteness
  FactorUpdate factor_update = FactorUpdate::automatic;
  ProjectionOptions projection{};
  StreamKey random{};  ///< directions of the randomized projection
  /// Point parameters of the posterior that `from` is a block of, with the number of the block's first
  /// parameter; null: from's own.
  const PointLayout* point_parameters = nullptr;
  Index first_parameter = 0;

  bool may_shorten() const { return indefinite != Indefinite::error; }
  /// True if a natural step of a precision is taken to second order (docs/theory/guard.md, "The improved
  /// Bayesian learning rule"): by rows, none can be lost.
  bool improves() const {
    return indefinite == Indefinite::improved && descent == Descent::natural && !curvature.rows;
  }
  bool has_kl() const { return prior || !prior_precision.empty(); }
  /// True if Lambda_0 = Lambda, as in the first inner iteration of an observation.
  bool at_prior() const { return prior == &from; }
  bool leaves_prior() const { return has_kl() && !at_prior(); }
};

/// theta <- transition theta + N(0, Q) in time: mu <- transition mu, Sigma <- inflation Sigma + diag(noise);
/// inflation is transition^2 over the forgetting factor, an empty noise 0 (docs/theory/streams.md, "The
/// passage of time").
template <class T>
struct Drift {
  double transition = 1, inflation = 1;
  ConstSpan<T> noise;
};

/// A step that would leave less than `least_kept` of the former precision (of the covariance, in moment
/// families) in some direction is shortened so that it leaves half of it there: what the natural step of the
/// other parametrisation would about leave at that point.
inline constexpr double least_kept = 1e-8, shortened_to = 0.5;

/// A plain gradient's steps of a variance are as long however small it is, so that shortened ones may halve
/// it for ever: below this, far above what overflows in its inverse, it stays, and the mean takes whole
/// steps.
template <class T>
inline constexpr double least_variance = sizeof(T) == sizeof(float) ? 1e-30 : 1e-100;

/// Returns the fraction of a step to be taken for a parameter or direction of which the whole step leaves
/// `kept` (perhaps negative) of the former. Fails with ERROR_DIVERGED unless it may be shortened.
double shortened(double kept, bool may_shorten);

/// Fails with ERROR_DIVERGED: `what` ("precision" or "covariance") is not finite and positive definite.
[[noreturn]] void fail_not_positive(const char* what);

/// Returns rate w_r for each row, taken from the scratch.
template <class T>
ConstSpan<T> scaled_weights(const Curvature<T>& curvature, double rate, Scratch& scratch);

/// Writes the columns sqrt(rate w_r) b_r (D x n).
template <class T>
void write_curvature_columns(const Curvature<T>& curvature, double rate, MatrixView<T> out, Scratch& scratch);

}  // namespace bdl
