// Rows of examples among the bytes of a file.
#pragma once

#include <span>

#include "base/array.hpp"
#include "io/element_type.hpp"

namespace bdl {

/// Elements of any type, in either byte order, from any address. Strides count elements.
struct FileArray {
  const std::byte* data = nullptr;
  const ElementType* type = nullptr;
  bool is_swapped = false;
  Index rows = 0, cols = 0, row_stride = 0, col_stride = 0;

  /// Bytes from the first element to this one.
  Index offset(Index row, Index col) const {
    return (row * row_stride + col * col_stride) * static_cast<Index>(type->width);
  }
};

/// Bytes with these lengths, the last one running fastest, as rows: one dimension is one column, and of three
/// or more all but the first are columns. ERROR_FORMAT for none.
FileArray rows_in_order(const std::byte* data, const ElementType& type, bool is_swapped,
                        std::span<const Index> shape);

/// The same memory as an array, without data unless it can be read as one.
Array as_array_in_memory(const FileArray& array);

/// Rows of the array, as gather() reads them.
template <class T>
void gather(const FileArray& array, ConstSpan<Index> rows, MatrixView<T> out, const ColumnScales& scales);
template <class T>
void gather(const FileArray& array, Index first, MatrixView<T> out, const ColumnScales& scales);

}  // namespace bdl
