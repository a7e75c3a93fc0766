// Hyper-parameter search: trials of option values, scored by cross-validation of blank copies of a prototype.
//
// space.hpp maps points of the unit cube to values of options; proposal.hpp chooses the next points, at
// random or by expected improvement of a Gaussian process (gaussian_process.hpp); batch.hpp trains the folds
// (cross_validation.hpp) of several trials on threads; trial_exchange.hpp shares points and results among
// ranks. Search runs batch after batch and keeps the trials in their order, so results do not depend on the
// number of threads or ranks.
#pragma once

#include "search/batch.hpp"
#include "search/trial_exchange.hpp"
#include "train/fit.hpp"

namespace bdl {

template <class T>
class Search {
 public:
  Search(const Optimizer<T>& prototype, const Validation& validation);

  const Validation& validation() const { return validation_; }
  const Space& space() const { return space_; }
  /// Fails once there are trials.
  Space& space_to_change();
  ConstSpan<Trial> trials() const { return trials_; }
  /// The trial with the highest score; fails if none has one.
  Index best() const;

  /// Sets the number of threads that train folds; 0 stands for option "threads" of the prototype.
  void set_workers(Index workers) { workers_ = workers; }
  /// Sets how many trials are proposed from the same scores. Fails once there are trials.
  void set_parallel_trials(Index trials);
  /// Sets the ranks that train folds; null to train alone.
  void set_communicator(std::shared_ptr<Communicator> communicator) { team_.join(std::move(communicator)); }
  Team& team() { return team_; }

  /// Adds trials, first at random, then by expected improvement, and returns OK or STOPPED. Completed trials
  /// stay whatever happens.
  Status run(const Array& x, const Array& y, Index at_random, Index by_improvement, const Progress& progress);

  std::atomic<bool> stop_requested{false};

 private:
  /// The work that is left in a run.
  struct Run {
    Index rows, at_random, by_improvement;
    const Progress& progress;
    bool is_stopped = false;
    Index missing() const { return at_random + by_improvement; }
  };
  void check_space(const Run& run) const;
  void check_rows(Index rows) const;
  void agree(DataSet& data, const Run& run);
  Index workers() const;
  Index random_together() const;
  Index batch_size(const Run& run) const;
  Index known_to_next() const;
  std::vector<Trial> propose(Index count, bool at_random) const;
  void run_batch(const FoldedData& data, Run& run);
  void train_here(Batch<T>& batch, Run& run);
  void train_by_ranks(Batch<T>* batch, Index tasks, Run& run);
  void keep_next(Batch<T>& batch, Run& run);

  std::unique_ptr<Optimizer<T>> prototype_;
  Validation validation_;
  Space space_;
  std::vector<Trial> trials_;
  Index rows_ = 0;  // number of rows of the trials' data
  Index workers_ = 0, parallel_trials_ = 1;
  Team team_;
  TrialExchange exchange_;
};

}  // namespace bdl
