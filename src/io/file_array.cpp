#include "io/file_array.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "bdl/matrix.h"

namespace bdl {
namespace {

static_assert(std::endian::native == std::endian::little);

std::uint8_t swapped(std::uint8_t bits) {
  return bits;
}
std::uint16_t swapped(std::uint16_t bits) {
  return __builtin_bswap16(bits);
}
std::uint32_t swapped(std::uint32_t bits) {
  return __builtin_bswap32(bits);
}
std::uint64_t swapped(std::uint64_t bits) {
  return __builtin_bswap64(bits);
}

template <class Bits, double (*value)(Bits)>
void read(const std::byte* from, Index step, Index count, bool is_swapped, double* to) {
  for (Index i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, from + i * step, sizeof bits);
    to[i] = value(is_swapped ? swapped(bits) : bits);
  }
}

template <class T, class Bits>
double value_as(Bits bits) {
  return static_cast<double>(std::bit_cast<T>(bits));
}

/// Converts the upper half of a float.
double value_of_bfloat16(std::uint16_t bits) {
  return value_as<float>(std::uint32_t{bits} << 16);
}

/// Converts IEEE 754 binary16 (a sign, 5 bits of exponent, 10 of fraction) without subnormal intermediate
/// values.
double value_of_half(std::uint16_t bits) {
  const std::uint64_t exponent = bits >> 10 & 31U, fraction = bits & 1023U;
  double size = static_cast<double>(fraction) * 0x1p-24;
  if (exponent == 31)
    size = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent > 0)
    size = std::bit_cast<double>((exponent + 1023 - 15) << 52 | fraction << 42);
  return bits >> 15 ? -size : size;
}

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr ElementType element_types[] = {
    {DType::F64, BDL_F64, "F64", "f8", 8, read<U64, value_as<double>>},
    {DType::F32, BDL_F32, "F32", "f4", 4, read<U32, value_as<float>>},
    {DType::F16, 0, "F16", "f2", 2, read<U16, value_of_half>},
    {DType::BF16, 0, "BF16", "", 2, read<U16, value_of_bfloat16>},
    {DType::I64, 0, "I64", "i8", 8, read<U64, value_as<std::int64_t>>},
    {DType::I32, BDL_I32, "I32", "i4", 4, read<U32, value_as<std::int32_t>>},
    {DType::I16, 0, "I16", "i2", 2, read<U16, value_as<std::int16_t>>},
    {DType::I8, 0, "I8", "i1", 1, read<U8, value_as<std::int8_t>>},
    {DType::U64, 0, "U64", "u8", 8, read<U64, value_as<U64>>},
    {DType::U32, 0, "U32", "u4", 4, read<U32, value_as<U32>>},
    {DType::U16, 0, "U16", "u2", 2, read<U16, value_as<U16>>},
    {DType::U8, BDL_U8, "U8", "u1", 1, read<U8, value_as<U8>>},
    {DType::BOOL, BDL_U8, "BOOL", "b1", 1, read<U8, value_as<U8>>}};
static_assert(std::size(element_types) == static_cast<std::size_t>(DType::OTHER));

template <class Has>
const ElementType* find(Has&& has) {
  const auto* const found = std::find_if(std::begin(element_types), std::end(element_types), has);
  return found == std::end(element_types) ? nullptr : found;
}

}  // namespace

const ElementType& element_type(DType dtype) {
  return element_types[static_cast<std::size_t>(dtype)];  // the enum's order
}

const ElementType* type_of_name(std::string_view name) {
  return find([&](const ElementType& type) { return type.name == name; });
}

const ElementType* type_of_descr(std::string_view descr) {
  return find([&](const ElementType& type) { return !descr.empty() && type.descr == descr; });
}

std::size_t width_of_other(std::string_view name) {
  if (name.starts_with("F8_")) return 1;
  return name == "C64" ? 8 : 0;
}

namespace {

constexpr Index piece_of_row = 512;  // 4 kB of stack

ColumnScales piece_of(const ColumnScales& scales, Index first, Index count) {
  if (!scales.given()) return scales;
  const auto begin = static_cast<std::size_t>(first), size = static_cast<std::size_t>(count);
  return {scales.mean.subspan(begin, size), scales.scale.subspan(begin, size)};
}

/// Converts each piece of a row to doubles and gathers from there.
template <class T, class RowOf>
void gather_rows(const FileArray& array, MatrixView<T> out, const ColumnScales& scales, RowOf row_of) {
  const Index step = array.offset(0, 1);
  double piece[piece_of_row];
  for (Index j = 0; j < out.cols; ++j)
    for (Index c = 0; c < out.rows; c += piece_of_row) {
      const Index count = std::min(piece_of_row, out.rows - c);
      array.type->read(array.data + array.offset(row_of(j), c), step, count, array.is_swapped, piece);
      gather(bdl_f64(piece, 1, count), 0, out.block(c, j, count, 1), piece_of(scales, c, count));
    }
}

}  // namespace

FileArray rows_in_order(const std::byte* data, const ElementType& type, bool is_swapped,
                        std::span<const Index> shape) {
  if (shape.empty()) fail(Status::ERROR_FORMAT, "the array is a single number, expected one example a row");
  Index columns = 1;
  for (const Index length : shape.subspan(1)) columns *= length;
  return {data, &type, is_swapped, shape[0], columns, columns, 1};
}

Array as_array_in_memory(const FileArray& array) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(array.data) % array.type->width == 0;
  const bool is_same = !array.is_swapped || array.type->width == 1;
  if (!array.type->dtype_in_memory || !is_aligned || !is_same) return {};
  return {array.data,      array.type->dtype_in_memory, 0, array.rows, array.cols, array.row_stride,
          array.col_stride};
}

template <class T>
void gather(const FileArray& array, ConstSpan<Index> rows, MatrixView<T> out, const ColumnScales& scales) {
  gather_rows(array, out, scales, [&](Index j) { return rows[static_cast<std::size_t>(j)]; });
}

template <class T>
void gather(const FileArray& array, Index first, MatrixView<T> out, const ColumnScales& scales) {
  gather_rows(array, out, scales, [&](Index j) { return first + j; });
}

template void gather(const FileArray&, ConstSpan<Index>, MatrixView<float>, const ColumnScales&);
template void gather(const FileArray&, ConstSpan<Index>, MatrixView<double>, const ColumnScales&);
template void gather(const FileArray&, Index, MatrixView<float>, const ColumnScales&);
template void gather(const FileArray&, Index, MatrixView<double>, const ColumnScales&);

}  // namespace bdl
