// Standardisation inside a model: f = m_y + s_y net((x - m_x) / s_x). The core computes with standardised
// numbers; all arguments and results of the C API are in the caller's units.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/array.hpp"

namespace bdl {

/// Mean and scale of columns; empty for 0 and 1.
struct ColumnMoments {
  std::vector<double> mean, scale;
  ColumnScales scales() const { return {mean, scale}; }
};

/// Limits of scales, whose squares and inverse squares are then far from overflow.
constexpr double smallest_scale = 1e-100, largest_scale = 1e100;
inline bool is_scale(double scale) {
  return scale >= smallest_scale && scale <= largest_scale;  // false for NaN
}

/// Returns the scale of a constant target: so small that a network's outputs hardly move it. If later targets
/// differ, training replaces the scale by their deviation (Standardization::is_constant()).
inline double scale_of_constant(double mean) {
  return mean == 0 ? 0x1p-40 : std::clamp(std::abs(mean) * 0x1p-27, smallest_scale, largest_scale);
}

class Standardization {
 public:
  Standardization() = default;
  Standardization(ColumnMoments inputs, ColumnMoments targets)
      : inputs_(std::move(inputs)), targets_(std::move(targets)) {
    set_offsets(0, 0);
  }
  /// Says how many offsets follow the features in a row of x. They have the targets' scales.
  void set_offsets(Index features, Index offsets);

  const ColumnMoments& input_moments() const { return inputs_; }
  const ColumnMoments& target_moments() const { return targets_; }
  /// Returns the scales of the columns of x and y.
  ColumnScales inputs() const { return columns_.scales(); }
  ColumnScales targets() const { return targets_.scales(); }
  bool given() const { return inputs_.scales().given() || targets().given(); }
  bool has_targets() const { return targets().given(); }

  /// True if target c was constant when its scale was chosen: other scales are never so small compared with
  /// the mean.
  bool is_constant(Index c) const {
    return is_scaled(c) && target_scale(c) == scale_of_constant(targets_.mean[static_cast<std::size_t>(c)]);
  }
  bool has_constant() const {
    for (Index c = 0; is_scaled(c); ++c)
      if (is_constant(c)) return true;
    return false;
  }

  /// Returns s_y of the target whose mean is output c, or 1 if there is none: log noise precisions are not
  /// scaled.
  double target_scale(Index c) const {
    return is_scaled(c) ? targets_.scale[static_cast<std::size_t>(c)] : 1;
  }
  /// True if all targets have the same scale.
  bool is_isotropic() const;
  /// Converts a number of y or f from standardised units to the caller's.
  double to_caller(Index c, double f) const {
    return is_scaled(c) ? targets_.mean[static_cast<std::size_t>(c)] + target_scale(c) * f : f;
  }
  /// Converts a variance, or the covariance of two outputs.
  double variance_to_caller(Index c, Index b, double v) const {
    return has_targets() ? target_scale(c) * target_scale(b) * v : v;
  }
  double variance_to_caller(Index c, double v) const { return variance_to_caller(c, c, v); }
  /// Returns the sum of log s_y, by which a log density is lower in the caller's units.
  double log_scale() const;
  /// Returns that sum over the targets that are not missing (NaN).
  template <class T>
  double log_scale(const T* y) const;

 private:
  bool is_scaled(Index c) const { return c < static_cast<Index>(targets_.scale.size()); }
  ColumnMoments inputs_, targets_;
  ColumnMoments columns_;  // of x: the inputs and the offsets
};

}  // namespace bdl
