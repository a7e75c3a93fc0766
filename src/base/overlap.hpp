// Where the caller's arrays lie: in the address space, and apart from each other where one is written.
#pragma once

#include <initializer_list>

#include "base/array.hpp"

namespace bdl {

/// Fails with ERROR_SHAPE where strides lead out of the address space.
void check_extent(const Array& array, const char* name);

/// Whether two elements of the array are in the same place: i row_stride + j col_stride = 0 for some i and j
/// of distances between its rows and columns, not both 0.
bool overlaps_itself(const Array& array);

/// True if the two share a byte. Also true where deciding would take over a million comparisons.
bool share_memory(const Array& a, const Array& b);

struct NamedArray {
  NamedArray(const char* its_name, const Array& array) : name(its_name), view(array) {}
  NamedArray(const char* its_name, const OutArray& array)
      : name(its_name), view{array.data, array.dtype,      array.reserved,  array.rows,
                             array.cols, array.row_stride, array.col_stride} {}
  const char* name;
  Array view;
};

/// Fails with ERROR_SHAPE unless the outputs of a call share no memory with each other nor with its inputs.
/// An output may be an input, element for element: nothing is written before all is read. Arrays that are not
/// given, or that their own checks refuse, are left to these.
void check_apart(std::initializer_list<NamedArray> outputs, std::initializer_list<NamedArray> inputs = {});

}  // namespace bdl
