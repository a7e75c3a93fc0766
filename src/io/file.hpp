// Reading files through POSIX: every problem is an Error that names the path and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/system_call.hpp"

namespace bdl {

inline constexpr std::size_t largest_transfer = std::size_t{1} << 30;  // Linux moves less than 2 GiB per call

/// A regular file, read from front to back.
class InputFile {
 public:
  explicit InputFile(const char* path);
  const std::string& path() const { return path_; }
  /// Its size in bytes when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fills all of `out`; fails when the file has become shorter than that.
  void read(std::span<std::byte> out);

 private:
  std::string path_;
  FileDescriptor descriptor_;
  std::uint64_t size_;
};

}  // namespace bdl
