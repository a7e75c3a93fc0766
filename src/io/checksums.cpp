#include "io/checksums.hpp"

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

std::uint32_t parse_checksum(const std::string& key, std::string_view text) {
  std::uint32_t checksum = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), checksum, 16);
  if (error != std::errc() || text.size() != 8 || end != text.data() + text.size())
    fail(Status::ERROR_FORMAT, "checksum '%s' is '%s', expected 8 hexadecimal digits", shown(key).c_str(),
         shown(text).c_str());
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

void check_header(const ArchiveHeader& header) {
  const auto stored = header.metadata.find(std::string(header_key));
  if (stored == header.metadata.end()) return;
  const std::uint32_t expected = parse_checksum(stored->first, stored->second), got = checksum_of(header);
  if (got != expected)
    fail(Status::ERROR_FORMAT, "the header is damaged: its checksum is %08x, expected %08x", got, expected);
}

}  // namespace

Metadata with_checksums(const Metadata& metadata, std::span<const Tensor> tensors) {
  Metadata all = metadata;
  std::map<std::string_view, const Tensor*> by_name;
  for (const auto& [key, value] : metadata)
    if (key == header_key || key.starts_with(tensor_prefix))
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
  check_header(header);
  header.metadata.erase(std::string(header_key));
  auto entry = header.metadata.lower_bound(std::string(tensor_prefix));
  while (entry != header.metadata.end() && entry->first.starts_with(tensor_prefix)) {
    const std::string name = entry->first.substr(tensor_prefix.size());
    const auto tensor = header.tensors.find(name);
    if (tensor == header.tensors.end())
      fail(Status::ERROR_FORMAT, "tensor '%s' is missing, but has a checksum", shown(name).c_str());
    tensor->second.checksum = parse_checksum(entry->first, entry->second);
    entry = header.metadata.erase(entry);
  }
}

void check_bytes(const NamedEntry& tensor, std::span<const std::byte> bytes) {
  if (!tensor.second.checksum) return;
  const std::uint32_t got = checksum_of(bytes);
  if (got != *tensor.second.checksum)
    fail(Status::ERROR_FORMAT, "tensor '%s' is damaged: its checksum is %08x, expected %08x",
         shown(tensor.first).c_str(), got, *tensor.second.checksum);
}

}  // namespace bdl
