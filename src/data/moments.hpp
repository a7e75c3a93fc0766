// Means and deviations of the columns of a data set, in one pass.
#pragma once

#include "data/data_set.hpp"

namespace bdl {

/// Of numbers that are no NaN, as deviations from the first one: so those of a constant are 0 exactly, and a
/// mean far from 0 does not cost digits of the deviations.
struct RunningMoments {
  double count = 0, pivot = 0;
  double shift = 0;   ///< the mean, from the pivot on
  double square = 0;  ///< sum of squared deviations from the mean
  /// Those of both, from one pivot (Chan, Golub, LeVeque 1983).
  void merge(const RunningMoments& other);
  double mean() const { return pivot + shift; }
  double square_about_zero() const { return square + count * mean() * mean(); }
};

/// Which columns; of every `together` consecutive ones of x the moments of all their numbers.
struct MomentsSpec {
  bool of_inputs, of_targets;
  Index together = 1;
};

struct DataMoments {
  std::vector<RunningMoments> inputs, targets;
};

/// Of scaled numbers. The caller can interrupt it.
DataMoments moments_of(DataSet& data, const Standardization& units, const MomentsSpec& spec);

/// Means and population standard deviations, each for `together` columns: 0 and 1 without numbers, 1 for what
/// is constant to rounding, not finite where squares overflow.
ColumnMoments column_moments(const std::vector<RunningMoments>& moments, Index together);
/// column_moments() for targets: a constant of two or more numbers gets scale_of_constant().
ColumnMoments moments_of_targets(const std::vector<RunningMoments>& moments);

}  // namespace bdl
