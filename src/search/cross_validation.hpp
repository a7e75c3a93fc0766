// K-fold cross-validation, by which a set of options is scored.
#pragma once

#include <atomic>

#include "data/data_set.hpp"
#include "data/folds.hpp"
#include "predict/mixture.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Settings that all trials of a search share, so that their scores are comparable.
struct Validation {
  Index folds, epochs;
  PredictSpec spec;  ///< for the held-out densities; its seed also is the seed of the folds
};

/// Data that several threads fetch from at the same time.
struct FoldedData {
  DataSet& all;
  const Folds& folds;
};

/// Result of a fold: a score (OK), a failure with a message, or nothing yet (STOPPED). Ranks send it
/// bytewise.
struct FoldResult {
  Status status = Status::STOPPED;
  double score = 0;  ///< mean log predictive density of the held-out rows
  char message[400] = {};
};

/// Returns a blank optimizer with its own copies of the objects and with equal model, family, method, options
/// and fixed prior.
template <class T>
std::unique_ptr<Optimizer<T>> blank_copy(const Optimizer<T>& optimizer, Index data_size);

/// Trains a blank copy of the prototype with these options on all folds but one, and scores that one. Any
/// thread may call it, unless the model is a caller's. Ends with STOPPED once `stop` is true, which an
/// interrupt sets.
template <class T>
FoldResult validate_fold(const Optimizer<T>& prototype, const Options& options, bool reset_prior,
                         const FoldedData& data, Index fold, const Validation& validation,
                         std::atomic<bool>& stop) noexcept;

}  // namespace bdl
