// Checks where the caller's arrays lie: within the address space, and apart from each other if one is
// written.
#pragma once

#include <initializer_list>

#include "base/array.hpp"

namespace bdl {

/// Fails with ERROR_SHAPE if strides lead out of the address space.
void check_extent(const Array& array, const char* name);

/// True if two elements of the array have the same place: i row_stride + j col_stride = 0 for distances i and
/// j of its rows and columns, not both 0.
bool overlaps_itself(const Array& array);

/// True if the two share a byte, or if deciding would take over a million comparisons.
bool share_memory(const Array& a, const Array& b);

struct NamedArray {
  NamedArray(const char* its_name, const Array& array) : name(its_name), view(array) {}
  NamedArray(const char* its_name, const OutArray& array)
      : name(its_name), view{array.data, array.dtype,      array.reserved,  array.rows,
                             array.cols, array.row_stride, array.col_stride} {}
  const char* name;
  Array view;
};

/// Fails with ERROR_SHAPE if an output of a call shares memory with another output or an input. An output may
/// be an input element for element, as everything is read before anything is written. Missing and invalid
/// arrays are left to other checks.
void check_apart(std::initializer_list<NamedArray> outputs, std::initializer_list<NamedArray> inputs = {});

}  // namespace bdl
