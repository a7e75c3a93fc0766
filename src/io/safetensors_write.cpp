#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "io/checksums.hpp"
#include "io/file_replacement.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_header.hpp"

namespace bdl {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor data are copied without swapping bytes");

using LengthField = std::array<std::byte, sizeof(std::uint64_t)>;

void append_string(std::string& json, std::string_view text) {
  constexpr const char* hex_digits = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20) {
      json += {'\\', 'u', '0', '0', hex_digits[code >> 4], hex_digits[code & 15]};
    } else {
      if (c == '"' || c == '\\') json += '\\';
      json += c;
    }
  }
  json += '"';
}

void append_metadata(std::string& json, const Metadata& metadata) {
  append_string(json, metadata_key);
  json += ":{";
  for (const auto& [key, value] : metadata) {
    if (json.back() != '{') json += ',';
    append_string(json, key);
    json += ':';
    append_string(json, value);
  }
  json += '}';
}

void append_tensor(std::string& json, const Tensor& tensor, std::uint64_t begin) {
  append_string(json, tensor.name);
  json += ":{\"dtype\":\"";
  json += dtype_name(tensor.dtype);
  json += "\",\"shape\":[";
  for (const Index length : tensor.shape) {
    if (json.back() != '[') json += ',';
    json += std::to_string(length);
  }
  json += "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(begin + tensor.bytes.size()) +
          "]}";
}

/// Sorts wide types first: every tensor is then aligned for its type, although the format allows no padding.
std::vector<const Tensor*> file_order(std::span<const Tensor> tensors) {
  std::vector<const Tensor*> order;
  order.reserve(tensors.size());
  for (const Tensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return dtype_width(a->dtype) > dtype_width(b->dtype);
  });
  return order;
}

/// Fails if the reader would reject the header.
void check_readable(const std::string& json, std::uint64_t data_size) {
  if (json.size() > largest_header)
    fail(Status::ERROR_INVALID_ARGUMENT, "header would have %zu bytes, expected at most %llu", json.size(),
         static_cast<unsigned long long>(largest_header));
  try {
    parse_header(json, data_size);
  } catch (const Error& error) {
    fail(Status::ERROR_INVALID_ARGUMENT, "archive cannot be written: %s", error.what());
  }
}

std::string build_header(const Metadata& metadata, std::span<const Tensor* const> order) {
  std::string json = "{";
  append_metadata(json, metadata);
  std::uint64_t data_size = 0;
  for (const Tensor* tensor : order) {
    if (tensor->name == metadata_key)
      fail(Status::ERROR_INVALID_ARGUMENT, "the name '%s' is reserved", metadata_key);
    json += ',';
    append_tensor(json, *tensor, data_size);
    data_size += tensor->bytes.size();
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  check_readable(json, data_size);
  return json;
}

/// Everything but the tensors' bytes, which both writers copy from where they are.
struct ArchivePlan {
  std::vector<const Tensor*> order;
  std::string json;
  LengthField json_length{};

  std::span<const std::byte> length_bytes() const { return json_length; }
  std::span<const std::byte> json_bytes() const { return std::as_bytes(std::span(json)); }
};

ArchivePlan plan_archive(const Metadata& metadata, std::span<const Tensor> tensors) {
  ArchivePlan plan;
  plan.order = file_order(tensors);
  plan.json = build_header(with_checksums(metadata, tensors), plan.order);
  plan.json_length = std::bit_cast<LengthField>(std::uint64_t{plan.json.size()});
  return plan;
}

}  // namespace

std::vector<std::byte> serialize_archive(const Metadata& metadata, std::span<const Tensor> tensors) {
  const ArchivePlan plan = plan_archive(metadata, tensors);
  std::size_t size = plan.json_length.size() + plan.json.size();
  for (const Tensor& tensor : tensors) size += tensor.bytes.size();
  std::vector<std::byte> archive;
  archive.reserve(size);
  const auto append = [&](std::span<const std::byte> bytes) {
    check_loop();
    archive.insert(archive.end(), bytes.begin(), bytes.end());
  };
  append(plan.length_bytes());
  append(plan.json_bytes());
  for (const Tensor* tensor : plan.order) append(tensor->bytes);
  return archive;
}

void write_archive(const char* path, const Metadata& metadata, std::span<const Tensor> tensors) {
  const ArchivePlan plan = plan_archive(metadata, tensors);
  replace_file(path, [&](FileReplacement& file) {
    file.write(plan.length_bytes());
    file.write(plan.json_bytes());
    for (const Tensor* tensor : plan.order) file.write(tensor->bytes);
  });
}

}  // namespace bdl
