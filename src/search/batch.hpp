// Trials that are trained at the same time: none is chosen by another's score. Their parts are the folds of
// all of them, which threads and ranks take in any order.
#pragma once

#include <memory>

#include "search/cross_validation.hpp"
#include "search/space.hpp"
#include "search/trial.hpp"

namespace bdl {

/// What every trial of a search is made from.
template <class T>
struct TrialSetting {
  const Optimizer<T>& prototype;
  const Space& space;
  const Validation& validation;
  bool one_thread_each;  ///< whatever option "threads" says: the folds have them all
};

template <class T>
class Batch {
 public:
  /// Of trials with points. Values that were tried before, or that come twice, are not trained again.
  Batch(const TrialSetting<T>& setting, const FoldedData& data, std::vector<Trial> trials,
        ConstSpan<Trial> before);

  Index parts() const { return std::ssize(results_); }
  /// Different threads may train different parts at the same time.
  void train(Index part, std::atomic<bool>& stop) noexcept;
  /// Of a part that was trained here or on another rank.
  FoldResult& result(Index part) { return results_[static_cast<std::size_t>(part)]; }
  /// All parts have results, wherever they were trained.
  void end_training() noexcept;
  /// Fails if this part ended as no set of options is to blame for.
  void check(Index part) const;

  /// Trials that have not been taken.
  bool is_empty() const { return next_ == trials_.size(); }
  /// Are all folds of the first of them trained, and none was stopped?
  bool has_next() const { return is_ready(next_); }
  /// Gives it its score or its message.
  void finish_next() { finish(next_); }
  /// The same for all that has_next() will be true for.
  void finish_all();
  Trial take_next() noexcept { return std::move(trials_[next_++]); }

 private:
  struct Source {
    Index trial;                 ///< whose folds are trained; -1: none's
    std::atomic<Index> left{0};  ///< of its own folds
  };
  ConstSpan<FoldResult> results_of(Index trial) const;
  bool is_ready(std::size_t trial) const;
  void finish(std::size_t trial);

  TrialSetting<T> setting_;
  FoldedData data_;
  std::vector<Trial> trials_;
  std::vector<FoldResult> results_;  // folds x trials
  std::unique_ptr<Source[]> sources_;
  std::size_t next_ = 0;
};

}  // namespace bdl
