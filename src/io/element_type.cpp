#include "io/element_type.hpp"

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

/// The upper half of a float.
double value_of_bfloat16(std::uint16_t bits) {
  return value_as<float>(std::uint32_t{bits} << 16);
}

/// IEEE 754 binary16: a sign, 5 bits of an exponent and 10 of a fraction. No subnormal number is used on the
/// way.
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

}  // namespace bdl
