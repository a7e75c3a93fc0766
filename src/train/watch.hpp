// Detects divergence. A network that predicts far worse than outputs 0 does not recover by itself: it goes
// back to its last good state, and training continues from there with half the learning rate, at most
// most_rate_cuts times.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "evidence/minibatch_evidence.hpp"
#include "train/state.hpp"

namespace bdl {

template <class T>
class Optimizer;

template <class T>
class Watch {
 public:
  /// Adds the step's misfits to moving averages over an epoch's steps, which next() then returns. Fails
  /// with ERROR_DIVERGED if posterior samples fit far worse than outputs 0.
  void check(const WatchState& now, const Misfits& misfits, Index epoch_steps, Index step);
  /// Returns the averages after the step that was checked last.
  const WatchState& next() const { return next_; }
  void set_next(const WatchState& next) { next_ = next; }

  /// Remembers the state after a step if it is good: the first such state, then one every epoch (at least
  /// every 20 steps apart).
  void keep_good_state(const Optimizer<T>& optimizer, Index epoch_steps);
  void remember(const Optimizer<T>& optimizer);
  /// True if a good state is known. Other changes than steps must forget() it: go_back() would undo them.
  bool knows_good_state() const { return is_known_; }
  void forget() noexcept { is_known_ = false; }
  /// Forgets an old state, since the caller may have changed posterior and scales; but not while training
  /// diverges.
  void forget_older(const WatchState& now) {
    if (is_good(now)) forget();
  }
  /// Restores posterior, scales and averages of the last good state after a failed step. The step number
  /// stays, and averages of gradients begin anew. Returns false if none is known or training fits well.
  bool go_back(Optimizer<T>& optimizer);

 private:
  static bool is_good(const WatchState& watch);
  WatchState next_;
  bool is_known_ = false;
  std::unique_ptr<Posterior<T>> posterior_;
  std::vector<double> prior_;
  std::optional<Likelihood> likelihood_;
  WatchState averages_;
  double running_log_likelihood_ = 0, start_weight_ = 1;
  std::vector<T> tied_;
};

/// True if training may continue from the last good state with half the learning rate: the guard is on, and
/// fewer than most_rate_cuts halvings have been made.
template <class T>
bool may_go_on(const Optimizer<T>& optimizer);

}  // namespace bdl
