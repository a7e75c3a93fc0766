// Measures of how well scores separate positives from negatives. Each is a sum over distinct thresholds,
// descending, of functions of the numbers of both kinds that reach them: one sort, O(n log n).
#pragma once

#include <vector>

#include "base/array.hpp"
#include "bdl/metrics.h"

namespace bdl {

class Ranking {
 public:
  /// Sorts both lists of scores; higher ones speak for positive. Neither may be empty.
  Ranking(std::vector<double> positive, std::vector<double> negative);

  /// Returns the ranking of the negated scores, in which negatives are positives.
  Ranking opposite() const;

  double auroc() const;
  double average_precision() const;
  struct Operation {
    double rate, threshold;
  };
  /// Returns the false positive rate at the largest threshold that a fraction tpr of the positives reaches.
  Operation false_positive_rate(double tpr) const;
  double detection_error() const;
  /// Writes columns (fpr, tpr, threshold) for the point above all scores and for every score, descending.
  void curve(MatrixView<double> points) const;

 private:
  /// Numbers of both kinds that reach a threshold.
  struct Step {
    double threshold, positives, negatives;
  };
  /// Calls visit(step) for each distinct threshold, descending, until it returns false.
  template <class Visit>
  void visit_steps(Visit&& visit) const;

  std::vector<double> positive_, negative_;  // descending
  double positives_, negatives_;
};

/// Checks and returns n x 1 scores.
std::vector<double> scores_of(const Array& scores, const char* name);

/// Returns the AUROC of right predictions against wrong ones, by a classifier's certainty.
double auroc_of_correct(const Array& probabilities, const Array& y, bdl_score score);

/// Fills in a report except for its size.
bdl_ood_report detect_outside(const Array& inside, const Array& outside, bdl_score score);

}  // namespace bdl
