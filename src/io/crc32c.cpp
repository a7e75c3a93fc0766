#include "io/crc32c.hpp"

#include <array>
#include <cstring>

#include "base/simd.hpp"

#if BDL_X86_SIMD
#include <nmmintrin.h>
#endif

namespace bdl {
namespace {

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

/// Row k: what a byte adds that k more bytes follow ("slicing by 8": Kounavis and Berry 2005).
constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? 0x82F63B78U : 0U);
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
BDL_TARGET("sse4.2")
std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t sum) {
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
