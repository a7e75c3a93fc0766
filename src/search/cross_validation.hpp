// The score of a set of options: K-fold cross-validation.
#pragma once

#include <atomic>
#include <optional>

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

struct Score {
  double mean, standard_error;  ///< over the folds, of the mean log predictive density per held-out row
};

/// An optimizer with the same model, family, method, options and fixed prior, but with objects of its own and
/// blank.
template <class T>
std::unique_ptr<Optimizer<T>> blank_copy(const Optimizer<T>& optimizer, Index data_size);

/// Trains a blank copy of the prototype with these options on all folds but one, for every fold, on as many
/// threads as option "threads" allows; the score does not depend on it. A caller's model stays on this
/// thread. Nothing if `stop` became true meanwhile. Fails as the first fold that failed; a message then names
/// it.
template <class T>
std::optional<Score> cross_validate(const Optimizer<T>& prototype, const Options& options, bool reset_prior,
                                    const FoldedData& data, const Validation& validation,
                                    std::atomic<bool>& stop);

}  // namespace bdl
