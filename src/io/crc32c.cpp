#include "io/crc32c.hpp"

#include <array>
#include <cstring>

#include "base/simd.hpp"

#if BDL_X86_SIMD
#include <nmmintrin.h>
#endif

namespace bdl {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

/// Row k: what a byte adds that k more bytes follow ("slicing by 8": Kounavis and Berry 2005).
constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? polynomial : 0);
    table[0][byte] = remainder;
  }
  for (std::size_t row = 1; row < table.size(); ++row)
    for (std::size_t byte = 0; byte < 256; ++byte)
      table[row][byte] = (table[row - 1][byte] >> 8) ^ table[0][table[row - 1][byte] & 0xFF];
  return table;
}

constexpr Table table = make_table();

std::uint64_t next_word(std::span<const std::byte>& bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes.data(), sizeof word);
  bytes = bytes.subspan(sizeof word);
  return word;
}

std::uint32_t by_table(std::span<const std::byte> bytes, std::uint32_t sum) {
  while (bytes.size() >= 8) {
    const std::uint64_t word = next_word(bytes) ^ sum;
    sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum ^= table[7 - i][(word >> (8 * i)) & 0xFF];
  }
  for (const std::byte byte : bytes)
    sum = (sum >> 8) ^ table[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  return sum;
}

#if BDL_X86_SIMD
/// Product of two polynomials modulo that of the sum; bit 31 - k is the coefficient of x^k.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if (a >> bit & 1) product ^= b;
    b = (b >> 1) ^ (b & 1 ? polynomial : 0);
  }
  return product;
}

/// x^(8 count): what a sum is multiplied by when so many zero bytes follow.
std::uint32_t shift_by(std::size_t count) {
  std::uint32_t power = std::uint32_t{1} << 31;
  for (std::uint32_t square = std::uint32_t{1} << 23; count > 0;
       count /= 2, square = multiply(square, square))
    if (count % 2 == 1) power = multiply(power, square);
  return power;
}

/// The instruction takes one cycle, but its result three: four sums at once, of a quarter each. Takes what it
/// has summed away.
BDL_TARGET("sse4.2")
std::uint32_t by_quarters(std::span<const std::byte>& bytes, std::uint32_t sum) {
  constexpr std::size_t parts = 4;
  const std::size_t length = bytes.size() / (parts * 8) * 8;
  std::array<std::span<const std::byte>, parts> rest;
  for (std::size_t i = 0; i < parts; ++i) rest[i] = bytes.subspan(i * length, length);
  std::array<std::uint64_t, parts> sums{sum};
  while (!rest[0].empty())
    for (std::size_t i = 0; i < parts; ++i) sums[i] = _mm_crc32_u64(sums[i], next_word(rest[i]));
  const std::uint32_t shift = shift_by(length);
  for (std::size_t i = 1; i < parts; ++i) sums[i] ^= multiply(static_cast<std::uint32_t>(sums[i - 1]), shift);
  bytes = bytes.subspan(parts * length);
  return static_cast<std::uint32_t>(sums.back());
}

BDL_TARGET("sse4.2")
std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t sum) {
  if (bytes.size() >= 1 << 16) sum = by_quarters(bytes, sum);
  std::uint64_t wide = sum;
  while (bytes.size() >= 8) wide = _mm_crc32_u64(wide, next_word(bytes));
  sum = static_cast<std::uint32_t>(wide);
  for (const std::byte byte : bytes) sum = _mm_crc32_u8(sum, std::to_integer<unsigned char>(byte));
  return sum;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) {
#if BDL_X86_SIMD
  if (widest_simd() != Simd::baseline) return ~by_instruction(bytes, ~previous);  // AVX2 implies SSE 4.2
#endif
  return ~by_table(bytes, ~previous);
}

}  // namespace bdl
