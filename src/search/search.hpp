// Hyper-parameter search: trials of option values, scored by cross-validation of blank copies of a prototype.
#pragma once

#include "inference/batch/fit.hpp"
#include "search/cross_validation.hpp"
#include "search/space.hpp"
#include "search/trial.hpp"

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

  /// Adds trials, first at random, then by expected improvement; OK or STOPPED. Whatever happens, the trials
  /// completed stay.
  Status run(const Array& x, const Array& y, Index at_random, Index by_improvement, const Progress& progress);

  std::atomic<bool> stop_requested{false};

 private:
  void check_rows(Index rows) const;
  bool evaluate(DataSet& data, const Folds& folds, Trial& trial);
  std::unique_ptr<Optimizer<T>> prototype_;
  Validation validation_;
  Space space_;
  std::vector<Trial> trials_;
  Index rows_ = 0;  // of the data of the trials
};

}  // namespace bdl
