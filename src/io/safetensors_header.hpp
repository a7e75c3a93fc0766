// The JSON header of a safetensors archive, checked against the size of the data that follow it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/safetensors.hpp"

namespace bdl {

inline constexpr std::uint64_t largest_header = 100'000'000;  // the limit of other readers of the format
inline constexpr const char* metadata_key = "__metadata__";

struct TensorEntry {
  DType dtype{};
  std::vector<Index> shape;
  std::uint64_t begin = 0, end = 0;  // bytes from the end of the header
  std::optional<std::uint32_t> checksum;
  std::string other_type;  // name of the type if dtype is OTHER
};

using NamedEntry = std::pair<const std::string, TensorEntry>;

struct ArchiveHeader {
  Metadata metadata;
  std::map<std::string, TensorEntry> tensors;
};

/// Types that tensors may have: those that libbdl writes, or any.
enum class Types { written, any };

/// Parses and checks a header; ERROR_FORMAT if it is damaged or fails check_layout(). Checksums are stored
/// with their tensors, not in the metadata.
ArchiveHeader parse_header(std::string_view json, std::uint64_t data_size, Types types = Types::written);

/// Fails with ERROR_FORMAT unless shapes match offsets and the tensors tile exactly `data_size` bytes. Shapes
/// of types with unknown width match any offsets.
void check_layout(const ArchiveHeader& header, std::uint64_t data_size);

}  // namespace bdl
