// One step of training: from a posterior q and what a minibatch says about it (evidence/) to the next
// posterior. Each published update is one file, which reads in the order of its paper:
//
// - slang.cpp: SLANG (Mishkin et al. 2018) and the natural gradients of other Gaussian families ("von", ...);
// - vogn.cpp: VOGN (Khan et al. 2018; Osawa et al. 2019);
// - ivon.cpp: IVON (Shen et al. 2024);
// - kfac.cpp: K-FAC and noisy K-FAC (Martens and Grosse 2015; Zhang et al. 2018);
// - elrg.cpp: variational inference with low-rank covariances (Tomczak et al. 2020);
// - first_order.cpp: SGD and Adam on the mean ("map", "sgd") or on mean and deviations ("bbb");
// - bong.cpp: streams by BONG, BLR, BOG, BBB (Jones et al. 2024), one observation after the other.
//
// The methods exact-* have no steps: exact/ finds the optimum of the ELBO from all data.
// methods/step_kind.hpp says which step a method takes. A step writes the next posterior and its own moving
// averages beside the present ones: nothing changes until train/step.cpp commits both.
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
  /// Weights of the KL divergence in this step and in the next one.
  double temperature = 1, next_temperature = 1;
};

template <class T>
struct StepInput {
  const Posterior<T>& q;  ///< before the step
  Prior<T>& prior;
  const Likelihood* likelihood = nullptr;  ///< null for steps on the caller's rows, which have no guard
  const Options& options;
  StepRates rates;
  double data_size;       ///< N
  Index number = 1;       ///< t
  bool is_fresh = false;  ///< the first step since the posterior was initialised
  Scratch& scratch;

  Index dimension() const { return q.dimension(); }
};

struct StepResult {
  double fraction = 1;  ///< of the step that was taken; below 1 if it was shortened to stay positive definite
  bool held = false;    ///< true if the guard scaled a gradient
  double kept = 1;      ///< fraction of the initial precision that is left in the next one
};

/// Computes the step of this kind. `next` becomes the posterior after it; for StepKind::mean it is null, and
/// averages.mean is the next mean.
template <class T>
StepResult take_step(StepKind kind, const StepInput<T>& in, const Evidence<T>& evidence,
                     Averages<T>& averages, Posterior<T>* next);

// The steps, one a file.
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

/// Returns a step of the posterior as the options want it, before loss, rates and prior are known.
template <class T>
PosteriorStep<T> begin_step(const Posterior<T>& from, const Options& options, bool is_stream,
                            const StreamKey& random);

/// One step of a posterior alone, from gradient rows b_r of a negative log likelihood: with g = scale sum_r
/// b_r and G = scale sum_r b_r b_r^T, Sigma^-1 <- project((1 - b) Sigma^-1 + b (G + diag(lambda))) and mu <-
/// mu - a Sigma (g + lambda mu), the projection exact and Sigma the new one
/// (docs/mathematics/natural-gradients.md, "A step from given rows"). On failure nothing has changed.
template <class T>
void natural_gradient_step(Posterior<T>& q, DenseRows<T>& rows, double scale, double learning_rate,
                           double curvature_rate, ConstSpan<T> prior_precision);

/// Fails with ERROR_DIVERGED, naming the parameter, unless the mean is finite after this step, observation or
/// passage of time.
template <class T>
void check_mean_finite(const Posterior<T>& q, const char* event, Index number);

}  // namespace bdl
