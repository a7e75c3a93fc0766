// What a set of options is scored by: K-fold cross-validation.
#pragma once

#include <atomic>

#include "data/data_set.hpp"
#include "data/folds.hpp"
#include "inference/optimizer.hpp"
#include "predict/mixture.hpp"

namespace bdl {

/// What makes the scores of a search comparable.
struct Validation {
  Index folds, epochs;
  PredictSpec spec;  ///< of the held-out densities; its seed also is that of the folds
};

/// Threads fetch from it at the same time.
struct FoldedData {
  DataSet& all;
  const Folds& folds;
};

/// What a fold came to: a score (OK), a failure with a message, or nothing yet (STOPPED). Ranks send it as it
/// is.
struct FoldResult {
  Status status = Status::STOPPED;
  double score = 0;  ///< mean log predictive density of the rows left out
  char message[400] = {};
};

/// An optimizer with the same model, family, method, options and fixed prior, but with objects of its own and
/// blank.
template <class T>
std::unique_ptr<Optimizer<T>> blank_copy(const Optimizer<T>& optimizer, Index data_size);

/// Trains a blank copy of the prototype with these options on all folds but one, and scores that one. Any
/// thread may do it, unless the model is a caller's. Ends with nothing once `stop` is true, which it sets
/// where the thread's caller interrupts it.
template <class T>
FoldResult validate_fold(const Optimizer<T>& prototype, const Options& options, bool reset_prior,
                         const FoldedData& data, Index fold, const Validation& validation,
                         std::atomic<bool>& stop) noexcept;

}  // namespace bdl
