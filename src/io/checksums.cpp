#include "io/checksums.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/error.hpp"
#include "base/loop_turns.hpp"
#include "io/crc32c.hpp"
#include "io/shown.hpp"

namespace bdl {
namespace {

constexpr std::string_view header_key = "crc32c", tensor_prefix = "crc32c.";

std::string hexadecimal(std::uint32_t checksum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(checksum));
  return text;
}

/// Only the digits that hexadecimal() writes: others would be a changed bit that nobody notices.
std::uint32_t parse_checksum(const std::string& key, std::string_view text) {
  std::uint32_t checksum = 0;
  std::from_chars(text.data(), text.data() + text.size(), checksum, 16);
  if (text != hexadecimal(checksum))
    fail(Status::ERROR_FORMAT, "checksum '%s' is '%s', expected 8 hexadecimal digits in lower case",
         shown(key).c_str(), shown(text).c_str());
  return checksum;
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  in_parts(bytes.size(),
           [&](std::size_t first, std::size_t count) { sum = crc32c(bytes.subspan(first, count), sum); });
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
       "the header is damaged: %s has no checksum, although the file has others (a file has all of them, or "
       "none)",
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

void take_checksums(ArchiveHeader& header) {
  Metadata& metadata = header.metadata;
  const auto any = std::ranges::find_if(metadata, is_checksum, &Metadata::value_type::first);
  if (any == metadata.end()) return;
  check_header(header);
  metadata.erase(std::string(header_key));
  for (auto& [name, tensor] : header.tensors) {
    const auto own = metadata.find(std::string(tensor_prefix) + name);
    if (own == metadata.end()) fail_missing("tensor '" + shown(name) + "'");
    tensor.checksum = parse_checksum(own->first, own->second);
    metadata.erase(own);
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
