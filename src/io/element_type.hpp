// Types of numbers in files. Arrays in memory have four of them (bdl_dtype); the others are converted to
// doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/view.hpp"

namespace bdl {

enum class DType { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL, OTHER };

struct ElementType {
  DType dtype;
  std::int32_t dtype_in_memory;  // the bdl_dtype of the same bytes; 0: none
  const char* name;              // in safetensors
  std::string_view descr;        // in .npy, behind the byte order; empty: NumPy has no such type
  std::size_t width;             // bytes
  /// Writes `count` numbers, `step` bytes apart, from any address: exactly, but for integers beyond 2^53.
  void (*read)(const std::byte* from, Index step, Index count, bool is_swapped, double* to);
};

/// The type of this number, which is not OTHER.
const ElementType& element_type(DType dtype);
/// The type with this name in safetensors, or null.
const ElementType* type_of_name(std::string_view name);
/// The type with this description in .npy, without the byte order, or null.
const ElementType* type_of_descr(std::string_view descr);

/// Bytes of a number of a type in safetensors that is OTHER; 0: not known.
std::size_t width_of_other(std::string_view name);

}  // namespace bdl
