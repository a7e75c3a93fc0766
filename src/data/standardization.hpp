// Standardisation inside a model: the network sees (x - m_x) / s_x, and f = m_y + s_y net((x - m_x) / s_x).
// The core computes with standardised numbers; what crosses the C boundary is in the caller's units.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/array.hpp"

namespace bdl {

/// Mean and scale of columns; empty: 0 and 1.
struct ColumnMoments {
  std::vector<double> mean, scale;
  ColumnScales scales() const { return {mean, scale}; }
};

/// Scales whose squares, and the squares' inverses, are far from the ends of the doubles.
constexpr double smallest_scale = 1e-100, largest_scale = 1e100;
inline bool is_scale(double scale) {
  return scale >= smallest_scale && scale <= largest_scale;  // false for NaN
}

/// Scale of a target that is the constant `mean`: so small that a network's outputs hardly move it. If later
/// targets differ, training replaces it by their deviation (Standardization::is_constant()).
inline double scale_of_constant(double mean) {
  return mean == 0 ? 0x1p-40 : std::clamp(std::abs(mean) * 0x1p-27, smallest_scale, largest_scale);
}

/// Means and population standard deviations of the array's columns: 1 for what is constant to rounding, not
/// finite where squares overflow. NaN does not count: a column of nothing else has mean 0. Every `together`
/// consecutive columns have those of all their numbers.
ColumnMoments moments_of_columns(const Array& array, Index together = 1);
/// moments_of_columns() for targets: two or more equal numbers get scale_of_constant().
ColumnMoments moments_of_targets(const Array& array);

class Standardization {
 public:
  Standardization() = default;
  Standardization(ColumnMoments inputs, ColumnMoments targets)
      : inputs_(std::move(inputs)), targets_(std::move(targets)) {}

  const ColumnMoments& input_moments() const { return inputs_; }
  const ColumnMoments& target_moments() const { return targets_; }
  ColumnScales inputs() const { return inputs_.scales(); }
  ColumnScales targets() const { return targets_.scales(); }
  bool given() const { return inputs().given() || targets().given(); }
  bool has_targets() const { return targets().given(); }

  /// True if target c was constant when its scale was chosen: scales of other data are never so small beside
  /// their mean.
  bool is_constant(Index c) const {
    return is_scaled(c) && target_scale(c) == scale_of_constant(targets_.mean[static_cast<std::size_t>(c)]);
  }
  bool has_constant() const {
    for (Index c = 0; is_scaled(c); ++c)
      if (is_constant(c)) return true;
    return false;
  }

  /// s_y of the target that output c is the mean of, 1 if of none: log noise precisions stay as they are.
  double target_scale(Index c) const {
    return is_scaled(c) ? targets_.scale[static_cast<std::size_t>(c)] : 1;
  }
  /// Do all targets have the same scale?
  bool is_isotropic() const;
  /// A number of y or f, from standardised units to the caller's.
  double to_caller(Index c, double f) const {
    return is_scaled(c) ? targets_.mean[static_cast<std::size_t>(c)] + target_scale(c) * f : f;
  }
  /// A variance likewise, or the covariance of two.
  double variance_to_caller(Index c, Index b, double v) const {
    return has_targets() ? target_scale(c) * target_scale(b) * v : v;
  }
  double variance_to_caller(Index c, double v) const { return variance_to_caller(c, c, v); }
  /// Sum of log s_y: by so much is a log density lower in the caller's units.
  double log_scale() const;
  /// The same of the targets that are there (not NaN).
  template <class T>
  double log_scale(const T* y) const;

 private:
  bool is_scaled(Index c) const { return c < static_cast<Index>(targets_.scale.size()); }
  ColumnMoments inputs_, targets_;
};

}  // namespace bdl
