#include <algorithm>
#include <array>
#include <bit>
#include <exception>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "io/checksums.hpp"
#include "io/file.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_header.hpp"

namespace bdl {
namespace {

std::string shape_text(const std::vector<Index>& shape) {
  std::string text = "[";
  for (const Index length : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(length);
  return shown(text + "]");
}

}  // namespace

const char* dtype_name(DType dtype) {
  return dtype == DType::OTHER ? "" : element_type(dtype).name;
}

std::size_t dtype_width(DType dtype) {
  return dtype == DType::OTHER ? 0 : element_type(dtype).width;
}

const Tensor& TensorArchive::at(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(Status::ERROR_FORMAT, "tensor '%s' is missing", shown(name).c_str());
  return found->second;
}

void TensorArchive::require_shape(const Tensor& tensor, const std::vector<Index>& shape) {
  if (tensor.shape == shape) return;
  fail(Status::ERROR_FORMAT, "tensor '%s' has shape %s, expected %s", shown(tensor.name).c_str(),
       shape_text(tensor.shape).c_str(), shape_text(shape).c_str());
}

void TensorArchive::copy_bytes(const Tensor& tensor, DType dtype, std::span<std::byte> out) {
  if (tensor.dtype != dtype)
    fail(Status::ERROR_FORMAT, "tensor '%s' has type %s, expected %s", shown(tensor.name).c_str(),
         dtype_name(tensor.dtype), dtype_name(dtype));
  if (tensor.bytes.size() != out.size())
    fail(Status::ERROR_FORMAT, "tensor '%s' has %zu elements, expected %zu", shown(tensor.name).c_str(),
         tensor.bytes.size() / element_type(dtype).width, out.size() / element_type(dtype).width);
  for (std::size_t first = 0; first < out.size(); first += largest_transfer) {
    check_loop();
    std::copy_n(tensor.bytes.begin() + static_cast<std::ptrdiff_t>(first),
                std::min(largest_transfer, out.size() - first),
                out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

namespace {

using LengthField = std::array<std::byte, sizeof(std::uint64_t)>;

void require_length_field(std::uint64_t archive_size) {
  if (archive_size < sizeof(LengthField))
    fail(Status::ERROR_FORMAT, "archive has %llu bytes, expected at least %zu",
         static_cast<unsigned long long>(archive_size), sizeof(LengthField));
}

std::size_t header_length(const LengthField& field, std::uint64_t archive_size) {
  const auto length = std::bit_cast<std::uint64_t>(field);
  const std::uint64_t remaining = archive_size - sizeof(LengthField);
  if (length > largest_header)
    fail(Status::ERROR_FORMAT, "header length is %llu, expected at most %llu: not a safetensors file",
         static_cast<unsigned long long>(length), static_cast<unsigned long long>(largest_header));
  if (length > remaining)
    fail(Status::ERROR_FORMAT,
         "archive is truncated: %llu bytes follow the header length, expected %llu or more",
         static_cast<unsigned long long>(remaining), static_cast<unsigned long long>(length));
  return static_cast<std::size_t>(length);
}

enum class Checksums { compared, left };

TensorMap views_of(ArchiveHeader& header, std::span<const std::byte> data, Checksums checksums) {
  TensorMap tensors;
  for (NamedEntry& tensor : header.tensors) {
    auto& [name, entry] = tensor;
    const auto bytes = data.subspan(static_cast<std::size_t>(entry.begin),
                                    static_cast<std::size_t>(entry.end - entry.begin));
    if (checksums == Checksums::compared) check_bytes(tensor, bytes);
    tensors.emplace_hint(
        tensors.end(), name,
        Tensor{name, entry.dtype, std::move(entry.shape), bytes, std::move(entry.other_type)});
  }
  return tensors;
}

/// Makes an archive whose tensors' data start at byte `data_start` of `bytes`.
TensorArchive assemble(ArchiveHeader header, std::vector<std::byte> bytes, std::size_t data_start) {
  TensorMap tensors = views_of(header, std::span(bytes).subspan(data_start), Checksums::compared);
  return {std::move(header.metadata), std::move(tensors), std::move(bytes)};
}

/// Reads the header of an archive in memory; `data_start` receives where it ends.
ArchiveHeader header_of(std::span<const std::byte> bytes, Types types, std::size_t& data_start) {
  require_length_field(bytes.size());
  LengthField field;
  std::copy_n(bytes.begin(), field.size(), field.begin());
  const std::size_t length = header_length(field, bytes.size());
  data_start = field.size() + length;
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + field.size(), length);
  return parse_header(json, bytes.size() - data_start, types);
}

ArchiveHeader read_header(InputFile& file) {
  require_length_field(file.size());
  LengthField field;
  file.read(field);
  std::string json(header_length(field, file.size()), ' ');
  file.read(std::as_writable_bytes(std::span(json)));
  return parse_header(json, file.size() - field.size() - json.size());
}

std::size_t data_size(const ArchiveHeader& header) {
  std::uint64_t end = 0;
  for (const auto& [name, entry] : header.tensors) end = std::max(end, entry.end);
  return static_cast<std::size_t>(end);
}

/// Returns an empty vector that has memory for `size` bytes.
std::vector<std::byte> allocate(std::size_t size) {
  try {
    std::vector<std::byte> bytes;
    bytes.reserve(size);
    return bytes;
  } catch (const std::exception&) {  // bad_alloc or length_error
    fail(Status::ERROR_OUT_OF_MEMORY, "out of memory: the tensors have %zu bytes", size);
  }
}

TensorArchive read_tensors(InputFile& file, ArchiveHeader header) {
  const std::size_t size = data_size(header);
  require_memory(2 * std::uint64_t{size});  // the objects made of the tensors need as much again
  std::vector<std::byte> data = allocate(size);
  for (std::size_t first = 0; first < size; first = data.size()) {  // pages are touched in blocks
    data.resize(std::min(size, first + largest_transfer));
    file.read(std::span(data).subspan(first));
  }
  return assemble(std::move(header), std::move(data), 0);
}

/// Calls read(), and puts the path before the message of an error that does not name it.
template <class Read>
auto with_path(const char* path, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.status() == Status::ERROR_FILE) throw;
    fail(error.status(), "%.250s: %s", path, error.what());
  }
}

}  // namespace

TensorArchive parse_archive(std::vector<std::byte> bytes) {
  std::size_t data_start = 0;
  ArchiveHeader header = header_of(bytes, Types::written, data_start);
  return assemble(std::move(header), std::move(bytes), data_start);
}

/// Checksums are not compared: that would read all of a file that may be larger than memory.
TensorMap view_archive(std::span<const std::byte> bytes) {
  std::size_t data_start = 0;
  ArchiveHeader header = header_of(bytes, Types::any, data_start);
  return views_of(header, bytes.subspan(data_start), Checksums::left);
}

TensorArchive read_archive(const char* path, void (*accept)(const Metadata&)) {
  InputFile file(path);
  return with_path(path, [&] {
    ArchiveHeader header = read_header(file);
    if (accept) accept(header.metadata);
    return read_tensors(file, std::move(header));
  });
}

Metadata read_metadata(const char* path) {
  InputFile file(path);
  return with_path(path, [&] { return read_header(file).metadata; });
}

}  // namespace bdl
