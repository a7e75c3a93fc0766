// One step of an optimizer: the evidence of a minibatch (steps/), the step that the method takes
// (steps/step.hpp), and what goes with it: the watch, the scales, the averages. Taken whole or not at all.
#pragma once

#include "ranks/strata.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Lets the log noise precisions of a heteroscedastic model be learned, but only if the step is taken.
class FreedLogPrecision {
 public:
  explicit FreedLogPrecision(Likelihood& likelihood) : likelihood_(likelihood) {}
  FreedLogPrecision(const FreedLogPrecision&) = delete;
  FreedLogPrecision& operator=(const FreedLogPrecision&) = delete;
  ~FreedLogPrecision() {
    if (new_ && !kept_) likelihood_.free_log_precision(false);
  }
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

/// One step on the minibatch that stands in batch_x() and batch_y(). Of several ranks each has its shards'
/// examples there, and all take the step or none. Returns true if one of them asks to stop, if they may.
template <class T>
bool take_step(Optimizer<T>& optimizer, const StepExamples& examples, bool may_ask);

/// The same alone, on one shard.
template <class T>
void take_step(Optimizer<T>& optimizer, Index examples);

/// One step on the rows that the caller has put into memory.rows.
template <class T>
void step_on_rows(Optimizer<T>& optimizer);

}  // namespace bdl
