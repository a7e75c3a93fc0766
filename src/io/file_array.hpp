// Numbers in files: their types, and rows of examples among the bytes of a file. Arrays in memory have four
// types (bdl_dtype); the others are converted to doubles when they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/array.hpp"
#include "base/view.hpp"

namespace bdl {

enum class DType { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL, OTHER };

struct ElementType {
  DType dtype;
  std::int32_t dtype_in_memory;  // bdl_dtype with these bytes, or 0 if there is none
  const char* name;              // in safetensors
  std::string_view descr;        // in .npy, after the byte order; empty if NumPy has no such type
  std::size_t width;             // bytes
  /// Reads `count` numbers, `step` bytes apart, from any address. Integers beyond 2^53 are rounded, all other
  /// numbers are exact.
  void (*read)(const std::byte* from, Index step, Index count, bool is_swapped, double* to);
};

/// Returns the description of a dtype, which must not be OTHER.
const ElementType& element_type(DType dtype);
/// Returns the type with this name in safetensors, or null.
const ElementType* type_of_name(std::string_view name);
/// Returns the type with this description in .npy, without the byte order, or null.
const ElementType* type_of_descr(std::string_view descr);

/// Returns the bytes of a number whose type in safetensors is OTHER, or 0 if unknown.
std::size_t width_of_other(std::string_view name);

/// Rows of elements of any type, in either byte order, at any address. Strides count elements.
struct FileArray {
  const std::byte* data = nullptr;
  const ElementType* type = nullptr;
  bool is_swapped = false;
  Index rows = 0, cols = 0, row_stride = 0, col_stride = 0;

  /// Returns the number of bytes from the first element to this one.
  Index offset(Index row, Index col) const {
    return (row * row_stride + col * col_stride) * static_cast<Index>(type->width);
  }
};

/// Returns a row-major array of this shape as rows: a single dimension becomes one column; of three or more,
/// all but the first become columns. Fails with ERROR_FORMAT if there is no dimension.
FileArray rows_in_order(const std::byte* data, const ElementType& type, bool is_swapped,
                        std::span<const Index> shape);

/// Returns the array in its own memory if its numbers can be read there, else an array without data.
Array as_array_in_memory(const FileArray& array);

/// Reads rows as gather() of base/array.hpp does: those listed, or those from `first` on.
template <class T>
void gather(const FileArray& array, ConstSpan<Index> rows, MatrixView<T> out, const ColumnScales& scales);
template <class T>
void gather(const FileArray& array, Index first, MatrixView<T> out, const ColumnScales& scales);

}  // namespace bdl
