// The state of training: everything in a checkpoint besides posterior, options, prior and moving averages.
#pragma once

#include <cstdint>
#include <limits>

#include "base/view.hpp"
#include "methods/schedule.hpp"
#include "train/stream/prequential.hpp"

namespace bdl {

/// Largest number of restarts with half the learning rate; the next divergence is an error.
inline constexpr Index most_rate_cuts = 10;

/// Largest number of epochs of all fits of an optimizer together.
inline constexpr Index most_epochs = INT32_MAX;

/// Moving averages by which divergence is detected (watch.hpp).
struct WatchState {
  Index steps = 0;
  double misfit = 0, baseline = 0;  ///< misfits of outputs at posterior samples, and of outputs 0
  double first_ratio = 0;           ///< their ratio at the start
  /// Returns how many times worse posterior samples fit than outputs 0; divided by that number at the start
  /// if it was above 1.
  double ratio() const;
};

/// Tells whether the expected log likelihood still rises, by its average since training last began to learn
/// another quantity. The k-th step has weight k, so the average stays well below the present value until
/// training converges.
struct Convergence {
  Index steps = 0;
  double first = 0, average = 0;
  void add(double value);
};

struct TrainingState {
  Index step = 0;
  Index learning_step = 0;  ///< first step that learned scales; 0: none yet
  Plan plan;
  Index epoch = 0, batch = 0;         ///< position of fit: completed epochs, minibatches within
  Index examples = 0, batches = 0;    ///< numbers of examples and minibatches in an epoch of fit
  Index fit_end_epoch = 0;            ///< epoch at which the current fit ends
  double running_log_likelihood = 0;  ///< moving average, scaled to N, of standardised targets
  Index running_steps = 0;
  double start_weight = 1;  ///< fraction of the initial precision in the present one: product of (1 - beta_t)
  Index shortened_steps = 0;  ///< steps that were shortened to stay positive definite
  Index guarded_steps = 0;    ///< steps in which the guard scaled a gradient, observations that it held back
  WatchState watch;
  Index snapshots = 0;  ///< number of snapshots that SWAG has taken in this course
  Index shards = 0;     ///< number of shards in the present course; 0: none yet
  Index rate_cuts = 0;  ///< divergences after which learning_rate was halved
  Convergence convergence;
  bool has_diverged = false;  ///< true if training diverged and ended: this is its last good state
  bool is_ahead = false;      ///< true if time has been moved on since the last observation
  bool is_fresh = false;      ///< true if the posterior was initialised, and no step taken since
  /// Largest evidence at which a fit with optimistic noise has looked; no look yet if it is -infinity.
  double best_evidence = -std::numeric_limits<double>::infinity();
  double draw_scale = 1;        ///< factor on the deviations of draws from the mean
  bool by_evidence = false;     ///< true within a fit that learns scales by the evidence
  bool is_in_doubt = false;     ///< true if class frequencies have more evidence than the network (doubt.hpp)
  bool may_begin_anew = false;  ///< true if the course began with a blank posterior
  /// Distance from the optimum at which a fit with exact-* ended, in posterior standard deviations.
  double distance = 0;
  double row_weight = 1;  ///< mean weight of a row; 1 without weights
  PrequentialSums prequential;
};

}  // namespace bdl
