#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "io/file.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_header.hpp"

namespace bdl {
namespace {

using LengthField = std::array<std::byte, sizeof(std::uint64_t)>;

void require_length_field(std::uint64_t archive_size) {
  if (archive_size < sizeof(LengthField)) {
    fail(Status::ERROR_FORMAT, "archive has %llu bytes, expected at least %zu",
         static_cast<unsigned long long>(archive_size), sizeof(LengthField));
  }
}

std::size_t header_length(const LengthField& field, std::uint64_t archive_size) {
  const auto length = std::bit_cast<std::uint64_t>(field);
  const std::uint64_t remaining = archive_size - sizeof(LengthField);
  if (length > largest_header) {
    fail(Status::ERROR_FORMAT, "header length is %llu, expected at most %llu: not a safetensors file",
         static_cast<unsigned long long>(length), static_cast<unsigned long long>(largest_header));
  }
  if (length > remaining) {
    fail(Status::ERROR_FORMAT,
         "archive is truncated: %llu bytes follow the header length, expected %llu or more",
         static_cast<unsigned long long>(remaining), static_cast<unsigned long long>(length));
  }
  return static_cast<std::size_t>(length);
}

TensorMap views_of(ArchiveHeader& header, std::span<const std::byte> data) {
  TensorMap tensors;
  for (auto& [name, entry] : header.tensors) {
    const auto part = data.subspan(static_cast<std::size_t>(entry.begin),
                                   static_cast<std::size_t>(entry.end - entry.begin));
    tensors.emplace_hint(tensors.end(), name, Tensor{name, entry.dtype, std::move(entry.shape), part});
  }
  return tensors;
}

/// The data of the tensors start at byte `data_start` of `bytes`.
TensorArchive assemble(ArchiveHeader header, std::vector<std::byte> bytes, std::size_t data_start) {
  TensorMap tensors = views_of(header, std::span(bytes).subspan(data_start));
  return {std::move(header.metadata), std::move(tensors), std::move(bytes)};
}

/// Reads the header of an archive in memory; `data_start` receives where it ends.
ArchiveHeader header_of(std::span<const std::byte> bytes, std::size_t& data_start) {
  require_length_field(bytes.size());
  LengthField field;
  std::copy_n(bytes.begin(), field.size(), field.begin());
  const std::size_t length = header_length(field, bytes.size());
  data_start = field.size() + length;
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + field.size(), length);
  return parse_header(json, bytes.size() - data_start);
}

/// The header is checked against the file's size before memory for the data is allocated.
TensorArchive read_pieces(InputFile& file) {
  require_length_field(file.size());
  LengthField field;
  file.read(field);
  std::string json(header_length(field, file.size()), ' ');
  file.read(std::as_writable_bytes(std::span(json)));
  const std::uint64_t data_size = file.size() - field.size() - json.size();
  ArchiveHeader header = parse_header(json, data_size);
  std::vector<std::byte> data(static_cast<std::size_t>(data_size));
  file.read(data);
  return assemble(std::move(header), std::move(data), 0);
}

}  // namespace

TensorArchive parse_archive(std::vector<std::byte> bytes) {
  std::size_t data_start = 0;
  ArchiveHeader header = header_of(bytes, data_start);
  return assemble(std::move(header), std::move(bytes), data_start);
}

TensorMap view_archive(std::span<const std::byte> bytes) {
  std::size_t data_start = 0;
  ArchiveHeader header = header_of(bytes, data_start);
  return views_of(header, bytes.subspan(data_start));
}

TensorArchive read_archive(const char* path) {
  InputFile file(path);
  try {
    return read_pieces(file);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_FORMAT) throw;
    fail(Status::ERROR_FORMAT, "%.250s: %s", path, error.what());
  }
}

}  // namespace bdl
