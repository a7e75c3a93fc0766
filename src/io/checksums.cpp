#include "io/checksums.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/simd.hpp"
#include "io/file.hpp"

#if BDL_X86_SIMD
#include <nmmintrin.h>
#endif

namespace bdl {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

/// Row k holds the contribution of a byte that k more bytes follow ("slicing by 8": Kounavis and Berry 2005).
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
/// Returns the product of two polynomials modulo the CRC's; bit 31 - k is the coefficient of x^k.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if (a >> bit & 1) product ^= b;
    b = (b >> 1) ^ (b & 1 ? polynomial : 0);
  }
  return product;
}

/// Returns x^(8 count), by which a sum is multiplied when `count` zero bytes follow.
std::uint32_t shift_by(std::size_t count) {
  std::uint32_t power = std::uint32_t{1} << 31;
  for (std::uint32_t square = std::uint32_t{1} << 23; count > 0;
       count /= 2, square = multiply(square, square))
    if (count % 2 == 1) power = multiply(power, square);
  return power;
}

/// Sums four quarters at once, as the instruction can start every cycle but its result takes three. Removes
/// the bytes that it has summed from `bytes`.
BDL_TARGET("sse4.2")
std::uint32_t by_quarters(std::span<const std::byte>& bytes, std::uint32_t sum) {
  constexpr std::size_t quarters = 4;
  const std::size_t length = bytes.size() / (quarters * 8) * 8;
  std::array<std::span<const std::byte>, quarters> rest;
  for (std::size_t i = 0; i < quarters; ++i) rest[i] = bytes.subspan(i * length, length);
  std::array<std::uint64_t, quarters> sums{sum};
  while (!rest[0].empty())
    for (std::size_t i = 0; i < quarters; ++i) sums[i] = _mm_crc32_u64(sums[i], next_word(rest[i]));
  const std::uint32_t shift = shift_by(length);
  for (std::size_t i = 1; i < quarters; ++i)
    sums[i] ^= multiply(static_cast<std::uint32_t>(sums[i - 1]), shift);
  bytes = bytes.subspan(quarters * length);
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

namespace {

constexpr std::string_view header_key = "crc32c", tensor_prefix = "crc32c.";

std::string hexadecimal(std::uint32_t checksum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(checksum));
  return text;
}

/// Accepts only digits as hexadecimal() writes them: an upper-case digit is a bit that has changed.
std::uint32_t parse_checksum(const std::string& key, std::string_view text) {
  std::uint32_t checksum = 0;
  std::from_chars(text.data(), text.data() + text.size(), checksum, 16);
  if (text != hexadecimal(checksum))
    fail(Status::ERROR_FORMAT, "checksum '%s' is '%s', expected 8 lower-case hexadecimal digits",
         shown(key).c_str(), shown(text).c_str());
  return checksum;
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t first = 0; first < bytes.size(); first += largest_transfer) {
    check_loop();
    sum = crc32c(bytes.subspan(first, std::min(largest_transfer, bytes.size() - first)), sum);
  }
  return sum;
}

class HeaderChecksum {
 public:
  void text(std::string_view text) {
    const std::byte zero{};
    sum_ = crc32c({&zero, 1}, crc32c(std::as_bytes(std::span(text)), sum_));
  }
  void metadata(const Metadata& metadata) {
    for (const auto& [key, value] : metadata) {
      if (key == header_key) continue;
      text(key);
      text(value);
    }
  }
  void tensor(std::string_view name, DType dtype, const std::vector<Index>& shape) {
    text(name);
    text(dtype_name(dtype));
    for (const Index length : shape) text(std::to_string(length));
    text("");
  }
  std::uint32_t value() const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};

std::uint32_t checksum_of(const ArchiveHeader& header) {
  HeaderChecksum checksum;
  checksum.metadata(header.metadata);
  for (const auto& [name, entry] : header.tensors) checksum.tensor(name, entry.dtype, entry.shape);
  return checksum.value();
}

bool is_of_tensor(std::string_view key) {
  return key.starts_with(tensor_prefix);
}

bool is_checksum(std::string_view key) {
  return key == header_key || is_of_tensor(key);
}

[[noreturn]] void fail_missing(const std::string& whose) {
  fail(Status::ERROR_FORMAT,
       "the header is damaged: %s has no checksum, but the file has others (a file has all of them or none)",
       whose.c_str());
}

void check_header(const ArchiveHeader& header) {
  const auto stored = header.metadata.find(std::string(header_key));
  if (stored == header.metadata.end()) fail_missing("it");
  const std::uint32_t expected = parse_checksum(stored->first, stored->second), got = checksum_of(header);
  if (got != expected)
    fail(Status::ERROR_FORMAT, "the header is damaged: its checksum is %08x, expected %08x", got, expected);
}

}  // namespace

Metadata with_checksums(const Metadata& metadata, std::span<const Tensor> tensors) {
  Metadata all = metadata;
  std::map<std::string_view, const Tensor*> by_name;
  for (const auto& [key, value] : metadata)
    if (is_checksum(key))
      fail(Status::ERROR_INVALID_ARGUMENT, "the key '%s' of metadata is reserved", shown(key).c_str());
  for (const Tensor& tensor : tensors) {
    all[std::string(tensor_prefix) + tensor.name] = hexadecimal(checksum_of(tensor.bytes));
    by_name[tensor.name] = &tensor;
  }
  HeaderChecksum checksum;
  checksum.metadata(all);
  for (const auto& [name, tensor] : by_name) checksum.tensor(name, tensor->dtype, tensor->shape);
  all[std::string(header_key)] = hexadecimal(checksum.value());
  return all;
}

void extract_checksums(ArchiveHeader& header) {
  Metadata& metadata = header.metadata;
  const auto any = std::ranges::find_if(metadata, is_checksum, &Metadata::value_type::first);
  if (any == metadata.end()) return;
  check_header(header);
  metadata.erase(std::string(header_key));
  for (auto& [name, tensor] : header.tensors) {
    const auto stored = metadata.find(std::string(tensor_prefix) + name);
    if (stored == metadata.end()) fail_missing("tensor '" + shown(name) + "'");
    tensor.checksum = parse_checksum(stored->first, stored->second);
    metadata.erase(stored);
  }
  const auto left = std::ranges::find_if(metadata, is_of_tensor, &Metadata::value_type::first);
  if (left != metadata.end())
    fail(Status::ERROR_FORMAT, "tensor '%s' is missing, but has a checksum",
         shown(left->first.substr(tensor_prefix.size())).c_str());
}

void check_bytes(const NamedEntry& tensor, std::span<const std::byte> bytes) {
  if (!tensor.second.checksum) return;
  const std::uint32_t got = checksum_of(bytes);
  if (got != *tensor.second.checksum)
    fail(Status::ERROR_FORMAT, "tensor '%s' is damaged: its checksum is %08x, expected %08x",
         shown(tensor.first).c_str(), got, *tensor.second.checksum);
}

}  // namespace bdl
