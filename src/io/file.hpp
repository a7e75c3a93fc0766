// Reading files through POSIX: every problem is an Error that names the path and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/system_call.hpp"

namespace bdl {

inline constexpr std::size_t largest_transfer = std::size_t{1} << 22;  // then the interrupt is asked

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

/// A regular file as memory: the system reads what is touched, and may drop it again.
class MappedFile {
 public:
  explicit MappedFile(const char* path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, static_cast<std::size_t>(size_)}; }
  /// Fails if the file has become shorter: its pages are then no memory any more.
  void check_size() const;
  /// What is touched next: here and there, or one after the other.
  enum class Access { unknown, scattered, in_order };
  void expect(Access access);
  /// These bytes are touched soon, or not for a while: then they do not count as memory of this process, but
  /// may stay in the system's.
  void prefetch(std::size_t offset, std::size_t size);
  void release(std::size_t offset, std::size_t size);

 private:
  std::string path_;
  FileDescriptor descriptor_;
  std::uint64_t size_;
  const std::byte* data_ = nullptr;
  Access access_ = Access::unknown;
};

}  // namespace bdl
