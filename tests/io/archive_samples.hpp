// Archives for the tests and the fuzz target, and what must hold for every archive the reader accepts.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "io/safetensors.hpp"

namespace bdl::testing {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void set_header_length(Bytes& archive, std::uint64_t length) {
  const auto field = std::bit_cast<std::array<std::byte, 8>>(length);
  std::copy(field.begin(), field.end(), archive.begin());
}

/// Length field, this header, and `data_size` bytes of data.
inline Bytes archive_with_header(std::string_view header, std::size_t data_size) {
  Bytes archive(8);
  set_header_length(archive, header.size());
  const Bytes text = bytes_of(header);
  archive.insert(archive.end(), text.begin(), text.end());
  archive.resize(archive.size() + data_size, std::byte{7});
  return archive;
}

/// One tensor of every type, one of them a single number and one empty, and some metadata.
inline Bytes small_archive() {
  const std::array<double, 3> f64{1.5, -2.0, 0.0};
  const std::array<std::int64_t, 1> i64{-7};
  const std::array<float, 3> f32{0.25F, 0.5F, -1.0F};
  const std::array<std::int32_t, 2> i32{1, -1};
  const std::array<std::uint8_t, 3> u8{0, 1, 255};
  const std::array tensors{
      make_tensor<std::uint8_t>("flags", {3}, u8),   make_tensor<float>("w", {1, 3}, f32),
      make_tensor<double>("mean", {3}, f64),         make_tensor<std::int64_t>("step", {}, i64),
      make_tensor<std::int32_t>("labels", {2}, i32), make_tensor<float>("none", {0, 4}, {})};
  return serialize_archive({{"format", "bdl"}, {"note", "a \"quoted\" \xC3\xA9"}}, tensors);
}

/// Returns that archive as versions without checksums wrote it: no change in it can be noticed.
inline Bytes unchecked_archive() {
  const Bytes checked = small_archive();
  const std::size_t data_size = 24 + 8 + 12 + 8 + 3;
  Bytes archive = archive_with_header(R"({"__metadata__":{"format":"bdl","note":"a \"quoted\" \u00e9"},)"
                                      R"("mean":{"dtype":"F64","shape":[3],"data_offsets":[0,24]},)"
                                      R"("step":{"dtype":"I64","shape":[],"data_offsets":[24,32]},)"
                                      R"("w":{"dtype":"F32","shape":[1,3],"data_offsets":[32,44]},)"
                                      R"("labels":{"dtype":"I32","shape":[2],"data_offsets":[44,52]},)"
                                      R"("none":{"dtype":"F32","shape":[0,4],"data_offsets":[52,52]},)"
                                      R"("flags":{"dtype":"U8","shape":[3],"data_offsets":[52,55]}} )",
                                      data_size);
  std::copy_n(checked.end() - data_size, data_size, archive.end() - data_size);
  return archive;
}

inline bool same_contents(const TensorArchive& a, const TensorArchive& b) {
  const auto same_tensor = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.name == y.second.name && x.second.dtype == y.second.dtype &&
           x.second.shape == y.second.shape && std::ranges::equal(x.second.bytes, y.second.bytes);
  };
  return a.metadata() == b.metadata() && std::ranges::equal(a.tensors(), b.tensors(), same_tensor);
}

inline std::vector<Tensor> tensors_of(const TensorArchive& archive) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : archive.tensors()) tensors.push_back(tensor);
  return tensors;
}

/// Accepted input has tensors as large as their shapes say, all of their bytes can be read, and it can be
/// written and read again.
inline bool accepted_is_consistent(const TensorArchive& archive) {
  for (const auto& [name, tensor] : archive.tensors()) {
    std::size_t bytes = dtype_width(tensor.dtype);
    for (const Index length : tensor.shape) bytes *= static_cast<std::size_t>(length);
    if (name != tensor.name || bytes != tensor.bytes.size()) return false;
  }
  return same_contents(archive, parse_archive(serialize_archive(archive.metadata(), tensors_of(archive))));
}

}  // namespace bdl::testing
