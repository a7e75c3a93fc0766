// Files in NumPy's format for the tests and the fuzz target.
#pragma once

#include "archive_samples.hpp"
#include "io/npy.hpp"

namespace bdl::testing {

/// Magic, version, length, header padded to 64 bytes as NumPy does, or to some more, and data.
inline Bytes npy_file(std::string_view header, std::span<const std::byte> data, int version = 1,
                      std::size_t more = 0) {
  std::string text(header);
  const std::size_t start = version == 1 ? 10 : 12;
  while ((start + text.size() + 1) % 64 != 0) text += ' ';
  text += std::string(more, ' ') + '\n';
  Bytes file = bytes_of("\x93NUMPY");
  file.push_back(static_cast<std::byte>(version));
  file.push_back(std::byte{0});
  for (std::size_t shift = 0; shift < start - 8; ++shift)
    file.push_back(static_cast<std::byte>(text.size() >> (8 * shift)));
  const Bytes bytes = bytes_of(text);
  file.insert(file.end(), bytes.begin(), bytes.end());
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

inline std::string npy_header(std::string_view descr, std::string_view order, std::string_view shape) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(order) +
         ", 'shape': " + std::string(shape) + ", }";
}

inline double element(const FileArray& array, Index row, Index col) {
  double value = 0;
  array.type->read(array.data + array.offset(row, col), 0, 1, array.is_swapped, &value);
  return value;
}

}  // namespace bdl::testing
