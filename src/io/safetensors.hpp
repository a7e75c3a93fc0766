// Safetensors archives: named tensors and text metadata in one file, which every language has tools for. A
// file holds a header length (u64, little-endian), a JSON header, then the tensors, row-major and without
// gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_array.hpp"

namespace bdl {

/// Returns the name and the width of a type; "" and 0 for OTHER.
const char* dtype_name(DType dtype);
std::size_t dtype_width(DType dtype);

/// Types of the tensors that the library writes.
inline constexpr DType written_types[] = {DType::F64, DType::F32, DType::I64, DType::I32, DType::U8};

template <class T>
inline constexpr DType dtype_of = [] {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, float> ||
                std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint8_t>);
  if (std::is_same_v<T, double>) return DType::F64;
  if (std::is_same_v<T, std::int64_t>) return DType::I64;
  if (std::is_same_v<T, float>) return DType::F32;
  return std::is_same_v<T, std::int32_t> ? DType::I32 : DType::U8;
}();

/// A view of a row-major array, which the caller owns when writing and the archive when reading.
struct Tensor {
  std::string name;
  DType dtype;
  std::vector<Index> shape;  // empty for a single number
  std::span<const std::byte> bytes;
  std::string other_type{};  // name of the type if dtype is OTHER
};

template <class T>
Tensor make_tensor(std::string name, std::vector<Index> shape, std::span<const T> values) {
  return {std::move(name), dtype_of<T>, std::move(shape), std::as_bytes(values)};
}

using Metadata = std::map<std::string, std::string>;
using TensorMap = std::map<std::string, Tensor, std::less<>>;

/// Metadata and tensors that have been read and checked. Moving it leaves the views valid.
class TensorArchive {
 public:
  TensorArchive(Metadata metadata, TensorMap tensors, std::vector<std::byte> bytes)
      : metadata_(std::move(metadata)), tensors_(std::move(tensors)), bytes_(std::move(bytes)) {}
  TensorArchive(TensorArchive&&) = default;
  TensorArchive& operator=(TensorArchive&&) = default;

  const Metadata& metadata() const { return metadata_; }
  const TensorMap& tensors() const { return tensors_; }
  bool contains(std::string_view name) const { return tensors_.contains(name); }
  /// Fails with ERROR_FORMAT if there is no tensor of that name.
  const Tensor& at(std::string_view name) const;

  /// Copies a tensor, as the tensors of a foreign file may be misaligned. Fails with ERROR_FORMAT unless it
  /// has type T and exactly out.size() elements.
  template <class T>
  void copy(std::string_view name, std::span<T> out) const {
    copy_bytes(at(name), dtype_of<T>, std::as_writable_bytes(out));
  }
  /// Also fails unless the tensor has exactly this shape, whose product is out.size().
  template <class T>
  void copy(std::string_view name, const std::vector<Index>& shape, std::span<T> out) const {
    require_shape(at(name), shape);
    copy(name, out);
  }

 private:
  static void require_shape(const Tensor& tensor, const std::vector<Index>& shape);
  static void copy_bytes(const Tensor& tensor, DType dtype, std::span<std::byte> out);

  Metadata metadata_;
  TensorMap tensors_;  // views into bytes_
  std::vector<std::byte> bytes_;
};

/// Returns the contents of a file, with checksums (io/checksums.hpp). Fails with ERROR_INVALID_ARGUMENT on
/// input that could not be read back: equal names, a shape that does not match the bytes, text that is not
/// UTF-8 or contains U+0000.
std::vector<std::byte> serialize_archive(const Metadata& metadata, std::span<const Tensor> tensors);
/// Replaces the file in one step; after a failure (ERROR_FILE) the old file is untouched.
void write_archive(const char* path, const Metadata& metadata, std::span<const Tensor> tensors);

/// Reads an archive in memory. Fails with ERROR_FORMAT unless every byte is accounted for and matches its
/// checksum.
TensorArchive parse_archive(std::vector<std::byte> bytes);
/// Reads a file, as parse_archive() does. `accept` may refuse the metadata before memory for the tensors is
/// allocated; ERROR_OUT_OF_MEMORY if this machine cannot hold them.
TensorArchive read_archive(const char* path, void (*accept)(const Metadata&) = nullptr);
/// Reads the metadata alone; tensors are checked only as far as the header describes them.
Metadata read_metadata(const char* path);

/// Returns views of an archive that stays in memory. Tensors may have any type, known or not.
TensorMap view_archive(std::span<const std::byte> bytes);

}  // namespace bdl
