// The rows of one kind of outputs, means or log noise precisions, in the evidence. They are those of a
// sample, and each counts for `weight` examples: docs/theory/scales.md, "By the evidence", has how many
// parameters all data determine.
#pragma once

#include <vector>

#include "train/scales/gram_evidence.hpp"

namespace bdl {

class EvidenceRows {
 public:
  /// The rows of this many outputs, for each of `curved` examples. `first` is the number of the first row,
  /// and `sizes` are the numbers of parameters of groups.
  EvidenceRows(Index first, Index outputs, Index curved, ConstSpan<double> sizes);

  Index first() const { return first_; }
  Index count() const { return static_cast<Index>(factors_.size()); }
  /// Begins anew: the rows are 0, and their factors 1.
  void begin();
  /// Adds the rows' parts in a group of parameters: `scale` times their Gram matrix, and their products with
  /// the parameters.
  template <class T>
  void add(Index group, double scale, ConstMatrixView<double> gram, ConstSpan<double> factors,
           ConstSpan<T> products);
  /// Returns the factors on the rows, which the noise gives.
  std::span<double> factors() { return factors_; }

  /// Finds the evidence at these prior precisions. Fails if it is not finite.
  void evaluate(ConstSpan<double> precisions, double weight);
  double log_det() const { return gram_.log_det(); }
  /// Returns how many of a group's parameters all data determine.
  double effective_parameters(Index group) const;
  /// Returns how many parameters all data like this row determine.
  double leverage(Index row) const { return growth_ * gram_.leverage(row); }
  /// Returns |P u|^2 for a group's parameters u: what the rows determine of them (GramEvidence).
  double determined_square(Index group, double precision);

  /// Finds the evidence with each row counted once: of larger data, the sample alone predicts its rows.
  void evaluate_once(ConstSpan<double> precisions, double weight);
  /// Returns what the parameters contribute to the linearised output of a row, counted once.
  double output(std::size_t row) const;
  /// Returns the log density of z given the others, summed over rows, after evaluate_once(). Destroys z.
  double left_out_log_density(std::span<double> z, ConstSpan<double> times) const {
    return gram_.left_out_log_density(z, times);
  }

 private:
  void evaluate_rows(ConstSpan<double> precisions, ConstSpan<double> factors);
  Index groups() const { return static_cast<Index>(sizes_.size()); }
  void count_once(double weight);
  double determined() const;
  double determined_by_all(ConstSpan<double> precisions, double weight);

  Index first_;
  std::vector<double> sizes_;  // of groups
  std::vector<bool> is_in_;    // groups to which rows were added
  GramEvidence gram_;
  std::vector<double> factors_, once_;         // on rows: as they count, and counted once
  std::vector<std::vector<double>> products_;  // of the rows with the parameters of each group
  double growth_ = 1;                          // of what is determined, from the rows to all data
};

}  // namespace bdl
