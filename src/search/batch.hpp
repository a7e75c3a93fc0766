// Trials that are trained at the same time, as none was chosen by another's score. The folds of all of them
// are tasks, which threads and ranks run in any order.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/view.hpp"
#include "search/cross_validation.hpp"
#include "search/space.hpp"

namespace bdl {

/// One set of option values that is tried.
struct Trial {
  std::vector<double> point, values;  ///< a snapped point of a Space, and its values
  double score = std::numeric_limits<double>::quiet_NaN(), standard_error = score;
  std::string message;  ///< says why there is no score
  Index known = -1;     ///< number of scores that it was proposed from; -1 if it is random

  bool has_score() const { return message.empty(); }
};

/// Objects that all trials of a search share.
template <class T>
struct TrialSetting {
  const Optimizer<T>& prototype;
  const Space& space;
  const Validation& validation;
  bool one_thread_each;  ///< overrides option "threads", as the folds use all threads
};

template <class T>
class Batch {
 public:
  /// Makes a batch of trials that have points. Values that were tried before, or come twice, are not trained
  /// again.
  Batch(const TrialSetting<T>& setting, const FoldedData& data, std::vector<Trial> trials,
        ConstSpan<Trial> before);

  Index tasks() const { return std::ssize(results_); }
  /// Different threads may train different tasks at the same time.
  void train(Index task, std::atomic<bool>& stop) noexcept;
  /// Returns the result of a task, which was trained here or on another rank.
  FoldResult& result(Index task) { return results_[static_cast<std::size_t>(task)]; }
  /// Must be called when all tasks have results, wherever they were trained.
  void end_training() noexcept;
  /// Fails if this task ended by an error that its options have not caused.
  void check(Index task) const;

  /// True if all trials have been removed.
  bool is_empty() const { return next_ == trials_.size(); }
  /// True if all folds of the next trial are trained, and none was stopped.
  bool has_next() const { return is_ready(next_); }
  /// Gives the next trial its score or its message.
  void finish_next() { finish(next_); }
  /// Does so for all trials that are ready.
  void finish_all();
  Trial remove_next() noexcept { return std::move(trials_[next_++]); }

 private:
  struct Source {
    Index trial;                 ///< trial whose folds are trained; -1 if none is
    std::atomic<Index> left{0};  ///< folds of this trial that are not trained yet
  };
  ConstSpan<FoldResult> results_of(Index trial) const;
  bool is_ready(std::size_t trial) const;
  void finish(std::size_t trial);

  TrialSetting<T> setting_;
  FoldedData data_;
  std::vector<Trial> trials_;
  std::vector<FoldResult> results_;  // folds x trials; a task's number is its place
  std::unique_ptr<Source[]> sources_;
  std::size_t next_ = 0;
};

}  // namespace bdl
