// One step of training: from a posterior q and what a minibatch says about it (evidence.hpp) to the next
// posterior. Each published update is one file, which reads in the order of its paper:
//
//   slang.cpp        SLANG (Mishkin et al. 2018) and the natural-gradient steps of all Gaussian families
//   ("von", ...) vogn.cpp         VOGN (Khan et al. 2018; Osawa et al. 2019) ivon.cpp         IVON (Shen et
//   al. 2024) kfac.cpp         K-FAC and noisy K-FAC (Zhang et al. 2018) elrg.cpp         variational
//   inference with low-rank covariances (Tomczak et al. 2020) first_order.cpp  SGD and Adam on the mean
//   ("map") or on mean and deviations ("bbb") bong.cpp         streams: BONG, BLR, BOG, BBB (Jones et al.
//   2024); one observation after the other exact_fit.cpp    the optimum of the ELBO of generalised linear
//   models, by iterations over all data
//
// step_of() decides from the options which one a method takes, once, when they are set. A step writes the
// next posterior and its own moving averages beside the present ones: nothing changes until train/step.cpp
// commits both.
#pragma once

#include "methods/schedule.hpp"
#include "prior/prior.hpp"
#include "steps/evidence.hpp"
#include "steps/leverage_guard.hpp"

namespace bdl {

template <class T>
struct Averages;

enum class StepKind { natural_gradient, mean, diagonal, low_rank_moment, vogn, ivon, kfac };

/// Returns the step that these options take in batches for posteriors like q.
template <class T>
StepKind step_kind(const Options& options, const Posterior<T>& q);

/// The rates of one step.
struct StepRates {
  double mean = 0;       ///< alpha_t
  double curvature = 0;  ///< beta_t
  double temperature = 1,
         next_temperature = 1;  ///< weights of the KL divergence in this step and in the next one
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
  LeverageGuard<T>& guard;

  Index dimension() const { return q.dimension(); }
};

struct StepResult {
  double fraction =
      1;  ///< of the step that was taken: less than 1 if it was shortened to stay positive definite
  bool held = false;  ///< true if the guard scaled a gradient
  double kept = 1;    ///< fraction of the initial precision that is left in the next one
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

/// Fails with ERROR_DIVERGED, naming the parameter, unless the mean is finite after this step, observation or
/// passage of time.
template <class T>
void check_mean_finite(const Posterior<T>& q, const char* event, Index number);

}  // namespace bdl
