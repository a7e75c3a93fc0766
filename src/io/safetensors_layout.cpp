#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "io/safetensors_header.hpp"
#include "io/shown.hpp"

namespace bdl {
namespace {

std::size_t width_of(const TensorEntry& entry) {
  return entry.dtype == DType::OTHER ? width_of_other(entry.other_type) : dtype_width(entry.dtype);
}

/// Zero lengths count as one here, so no partial product of an accepted shape overflows.
bool byte_count(const TensorEntry& entry, std::uint64_t& bytes) {
  Index product = static_cast<Index>(width_of(entry));
  bool empty = false;
  for (const Index length : entry.shape) {
    empty = empty || length == 0;
    if (__builtin_mul_overflow(product, std::max<Index>(length, 1), &product)) return false;
  }
  bytes = empty ? 0 : static_cast<std::uint64_t>(product);
  return true;
}

void check_size(const NamedEntry& tensor) {
  const auto& [name, entry] = tensor;
  const auto begin = static_cast<unsigned long long>(entry.begin),
             end = static_cast<unsigned long long>(entry.end);
  if (begin > end) {
    fail(Status::ERROR_FORMAT, "'data_offsets' of tensor '%s' end before they begin: %llu, %llu",
         shown(name).c_str(), begin, end);
  }
  if (width_of(entry) == 0) return;
  std::uint64_t bytes = 0;
  if (!byte_count(entry, bytes)) {
    fail(Status::ERROR_FORMAT, "'shape' of tensor '%s' overflows: its size exceeds 2^63 bytes",
         shown(name).c_str());
  }
  if (end - begin != bytes) {
    fail(Status::ERROR_FORMAT, "'data_offsets' of tensor '%s' span %llu bytes, dtype and shape expected %llu",
         shown(name).c_str(), end - begin, static_cast<unsigned long long>(bytes));
  }
}

void check_tiling(const ArchiveHeader& header, std::uint64_t data_size) {
  std::vector<const NamedEntry*> order;
  order.reserve(header.tensors.size());
  for (const NamedEntry& tensor : header.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const NamedEntry* a, const NamedEntry* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t covered = 0;
  for (const NamedEntry* tensor : order) {
    const std::uint64_t begin = tensor->second.begin;
    if (begin != covered) {
      fail(Status::ERROR_FORMAT, "tensor '%s' %s: it begins at byte %llu, expected %llu",
           shown(tensor->first).c_str(), begin < covered ? "overlaps its predecessor" : "leaves a hole",
           static_cast<unsigned long long>(begin), static_cast<unsigned long long>(covered));
    }
    covered = tensor->second.end;
  }
  if (covered != data_size) {
    fail(Status::ERROR_FORMAT, "file has %llu bytes of tensor data, header expected %llu",
         static_cast<unsigned long long>(data_size), static_cast<unsigned long long>(covered));
  }
}

}  // namespace

void check_layout(const ArchiveHeader& header, std::uint64_t data_size) {
  for (const NamedEntry& tensor : header.tensors) check_size(tensor);
  check_tiling(header, data_size);
}

}  // namespace bdl
