// Moments of the columns of an array.
#pragma once

#include "data/moments.hpp"

namespace bdl::testing {

inline ColumnMoments moments_of_columns(const Array& array, Index together = 1) {
  ArrayData data(array, {});
  const Standardization as_given;
  return column_moments(
      moments_of(data, as_given, {.of_inputs = true, .of_targets = false, .together = together}).inputs,
      together);
}

}  // namespace bdl::testing
