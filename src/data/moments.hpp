// Means, deviations and ranges of the columns of a data set, in one pass.
#pragma once

#include "data/data_set.hpp"

namespace bdl {

/// Moments of the numbers that are not NaN, as deviations from the first one: those of a constant are exactly
/// 0, and a mean far from 0 costs no digits of the deviations.
struct RunningMoments {
  double count = 0, pivot = 0;
  double shift = 0;   ///< the mean minus the pivot
  double square = 0;  ///< sum of squared deviations from the mean
  /// Adds moments with the same pivot (Chan, Golub, LeVeque 1983).
  void merge(const RunningMoments& other);
  double mean() const { return pivot + shift; }
  double square_about_zero() const { return square + count * mean() * mean(); }
};

/// Selects columns. Every `together` consecutive columns of x have common moments.
struct MomentsSpec {
  bool of_inputs, of_targets;
  Index together = 1;
  RowExtras extras{};
};

struct DataMoments {
  std::vector<RunningMoments> inputs, targets;
};

/// Returns the moments of scaled numbers, added to those of other data: of targets less their offsets, and
/// each row counts as often as its weight says. Can be interrupted.
DataMoments moments_of(DataSet& data, const Standardization& units, const MomentsSpec& spec,
                       DataMoments others = {});

/// True if the numbers are equal up to rounding; false if their squares overflow.
bool is_constant(const RunningMoments& moments);

/// Returns means and population standard deviations, each repeated for `together` columns. Without numbers
/// they are 0 and 1; a deviation is 1 for constants up to rounding, and not finite if squares overflow.
ColumnMoments column_moments(const std::vector<RunningMoments>& moments, Index together);
/// As column_moments(), but two or more equal numbers get scale_of_constant().
ColumnMoments moments_of_targets(const std::vector<RunningMoments>& moments);

/// Ranges of the targets of a data set.
struct TargetRange {
  std::vector<double> smallest, largest;  ///< one for each column
};

/// Fails unless all targets are finite. Can be interrupted.
TargetRange target_range(DataSet& data);

}  // namespace bdl
