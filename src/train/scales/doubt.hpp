// Doubt in a network for classes (docs/theory/scales.md, "Where there is nothing to learn"). Its prior
// is not learned, since the ELBO would choose one that costs accuracy. But where its evidence after two
// thirds of the course is below that of the frequencies of the classes, it has learned noise, and the prior
// is learned from there on.
#pragma once

#include "train/scales/linearized_evidence.hpp"

namespace bdl {

/// True if a fit of this optimizer learns its prior only in doubt.
template <class T>
bool may_doubt(const Optimizer<T>& optimizer);

/// The look of one fit.
template <class T>
class Doubt {
 public:
  /// Reads a sample of the data, and holds the memory of the look. All ranks call it within Team::attempt.
  Doubt(Optimizer<T>& optimizer, DataSet& data, Index shards);
  /// Looks after the step at which scales begin to be learned.
  void look();

 private:
  Optimizer<T>& optimizer_;
  EvidenceSample<T> sample_;
  LinearizedEvidence<T> evidence_;
  double of_frequencies_;  // log likelihood per example
};

}  // namespace bdl
