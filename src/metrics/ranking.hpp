// How well scores tell positives from negatives. Every measure is a sum over distinct thresholds, descending,
// of how many of either kind reach them: one sort, O(n log n).
#pragma once

#include <vector>

#include "base/array.hpp"

namespace bdl {

class Ranking {
 public:
  /// Scores, a higher one of which says positive; both are sorted. Neither may be empty.
  Ranking(std::vector<double> positive, std::vector<double> negative);

  /// Of the negated scores: what was negative is positive.
  Ranking opposite() const;

  double auroc() const;
  double average_precision() const;
  struct Operation {
    double rate, threshold;
  };
  /// False positive rate at the largest threshold that a share tpr of the positives reaches.
  Operation false_positive_rate(double tpr) const;
  double detection_error() const;
  /// Columns (fpr, tpr, threshold) of the point above all scores and of every score, descending.
  void curve(MatrixView<double> points) const;

 private:
  /// How many of either kind reach a threshold.
  struct Step {
    double threshold, positives, negatives;
  };
  /// visit(step) for each distinct threshold, descending, until it says no.
  template <class Visit>
  void visit_steps(Visit&& visit) const;

  std::vector<double> positive_, negative_;  // descending
  double positives_, negatives_;
};

/// n x 1 scores after their checks.
std::vector<double> scores_of(const Array& scores, const char* name);

}  // namespace bdl
