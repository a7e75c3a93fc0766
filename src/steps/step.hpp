// One step of training computes the next posterior from the present one, q, and from the gradient and the
// curvature of a minibatch (evidence/). Each published update is one file, in the order of its paper:
//
// - slang.cpp: SLANG (Mishkin et al. 2018) and the natural gradients of other Gaussian families ("von",
//   ...);
// - vogn.cpp: VOGN (Khan et al. 2018; Osawa et al. 2019);
// - ivon.cpp: IVON (Shen et al. 2024);
// - kfac.cpp: K-FAC and noisy K-FAC (Martens and Grosse 2015; Zhang et al. 2018);
// - elrg.cpp: variational inference with low-rank covariances (Tomczak et al. 2020);
// - first_order.cpp: SGD and Adam on the mean ("map", "sgd") or on mean and deviations ("bbb");
// - bong.cpp: streams by BONG, BLR, BOG, BBB (Jones et al. 2024), one observation after the other.
//
// The methods exact-* have no steps: train/exact/ finds the optimum of the ELBO from all data.
// methods/step_kind.hpp chooses the step of a method. A step writes the next posterior and the next moving
// averages beside the present ones, so nothing changes until train/step.cpp commits both.
#pragma once

#include "curvature/dense_rows.hpp"
#include "evidence/evidence.hpp"
#include "methods/schedule.hpp"
#include "methods/step_kind.hpp"
#include "prior/prior.hpp"

namespace bdl {

template <class T>
struct Averages;

/// The rates of one step.
struct StepRates {
  double mean = 0;       ///< alpha_t
  double curvature = 0;  ///< beta_t
  /// tau: the weight of the KL divergence (option kl_weight) in this step, and in the next one.
  double temperature = 1, next_temperature = 1;
};

/// Input of a step, but for its evidence and averages.
template <class T>
struct StepInput {
  const Posterior<T>& q;  ///< the posterior before the step
  Prior<T>& prior;
  const Likelihood* likelihood = nullptr;  ///< null for steps on the caller's rows, which have no guard
  const Options& options;
  StepRates rates;
  double data_size;       ///< N
  Index number = 1;       ///< t
  bool is_fresh = false;  ///< true in the first step after the posterior was initialised
  Scratch& scratch;

  Index dimension() const { return q.dimension(); }
};

struct StepResult {
  double fraction = 1;  ///< fraction of the step that was taken; below 1 to stay positive definite
  bool held = false;    ///< true if the guard scaled a gradient
  double kept = 1;      ///< fraction of the precision before the step that the next precision keeps
};

/// Computes the step of this kind. Writes the posterior after it to `next`; for StepKind::mean, `next` is
/// null and the next mean goes to averages.mean.
template <class T>
StepResult take_step(StepKind kind, const StepInput<T>& in, const Evidence<T>& evidence,
                     Averages<T>& averages, Posterior<T>* next);

// Steps of each kind, which take_step() chooses from.
template <class T>
StepResult slang_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                      Posterior<T>& next);
template <class T>
StepResult mean_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages);
template <class T>
StepResult diagonal_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                         Posterior<T>& next);
template <class T>
StepResult low_rank_moment_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                                Posterior<T>& next);
template <class T>
StepResult vogn_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                     Posterior<T>& next);
template <class T>
StepResult ivon_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                     Posterior<T>& next);
template <class T>
StepResult kfac_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                     Posterior<T>& next);

/// Returns a step from this posterior with what the options determine; the caller adds loss, rates and
/// prior.
template <class T>
PosteriorStep<T> begin_step(const Posterior<T>& from, const Options& options, bool is_stream,
                            const StreamKey& random);

/// Takes one step of a posterior alone, from gradient rows b_r of a negative log likelihood: with
/// g = scale sum_r b_r and G = scale sum_r b_r b_r^T,
///
///   Sigma^-1 <- project((1 - b) Sigma^-1 + b (G + diag(lambda))),   mu <- mu - a Sigma (g + lambda mu),
///
/// where the projection is exact and mu moves with the new Sigma, in moment families with the old one
/// (docs/theory/natural-gradients.md, "A step from given rows"). A failure changes nothing.
template <class T>
void natural_gradient_step(Posterior<T>& q, DenseRows<T>& rows, double scale, double learning_rate,
                           double curvature_rate, ConstSpan<T> prior_precision);

/// Fails with ERROR_DIVERGED, naming a parameter, unless the mean is finite. `event` and `number` tell the
/// user after what: a step, an observation or a time.
template <class T>
void check_mean_finite(const Posterior<T>& q, const char* event, Index number);

}  // namespace bdl
