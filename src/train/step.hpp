// One step of an optimizer: the evidence of a minibatch (evidence/), the step that the method takes
// (steps/step.hpp), and the watch, scales and averages that follow it. It is taken whole or not at all.
#pragma once

#include "ranks/strata.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Frees log noise precisions for a step, so that they are learned, but only if it is taken; or leaves the
/// curvature of held ones out of its rows.
class LogPrecisionInStep {
 public:
  explicit LogPrecisionInStep(Likelihood& likelihood) : likelihood_(likelihood) {}
  LogPrecisionInStep(const LogPrecisionInStep&) = delete;
  LogPrecisionInStep& operator=(const LogPrecisionInStep&) = delete;
  ~LogPrecisionInStep() {
    likelihood_.hold_without_curvature(false);
    if (new_ && !kept_) likelihood_.free_log_precision(false);
  }
  void hold_without_curvature() { likelihood_.hold_without_curvature(true); }
  void free() {
    new_ = !likelihood_.log_precision_is_free();
    likelihood_.free_log_precision(true);
  }
  void keep() { kept_ = true; }
  bool is_new() const { return new_; }

 private:
  Likelihood& likelihood_;
  bool new_ = false, kept_ = false;
};

/// Takes one step on the minibatch in batch_x() and batch_y(). Each of several ranks has its shards'
/// examples there, and all take the step or none does. Returns true if a rank asks to stop, which only
/// counts if may_ask is true.
template <class T>
bool train_step(Optimizer<T>& optimizer, const StepExamples& examples, bool may_ask);

/// Takes one step alone, on one shard.
template <class T>
void train_step(Optimizer<T>& optimizer, Index examples);

/// Takes one step on the rows that the caller has put into memory.rows.
template <class T>
void step_on_rows(Optimizer<T>& optimizer);

}  // namespace bdl
