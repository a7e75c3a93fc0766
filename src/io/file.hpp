// Files through POSIX: calls that a signal interrupts are repeated; a call that fails becomes an Error that
// names the path and the system's reason.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bdl {

/// Fails with ERROR_FILE and the text of errno.
[[noreturn]] void fail_with_errno(const std::string& path, const char* action);

template <class Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  /// Returns -1 if there is none.
  int number() const { return number_; }
  /// Closes now; returns false and sets errno if the system reports a delayed write error.
  bool close();

 private:
  int number_;
};

/// Bytes of a file's block: the interrupt is asked before each.
inline constexpr std::size_t largest_transfer = std::size_t{1} << 22;

/// A regular file, read from front to back.
class InputFile {
 public:
  explicit InputFile(const char* path);
  const std::string& path() const { return path_; }
  /// Returns the size in bytes when the file was opened.
  std::uint64_t size() const { return size_; }
  /// Fills all of `out`; fails if the file has become too short.
  void read(std::span<std::byte> out);

 private:
  std::string path_;
  FileDescriptor descriptor_;
  std::uint64_t size_;
};

/// A regular file mapped into memory: the system reads pages when they are used, and may drop them again.
class MappedFile {
 public:
  explicit MappedFile(const char* path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, static_cast<std::size_t>(size_)}; }
  /// Fails if the file has become shorter: reading the missing pages would end the process.
  void check_size() const;
  /// How the next reads will be distributed over the file.
  enum class Access { unknown, scattered, in_order };
  void expect(Access access);
  /// Announces that these bytes are needed soon.
  void prefetch(std::size_t offset, std::size_t size);
  /// Announces that these bytes are not needed for a while. They then do not count as memory of this process,
  /// but may stay in the system's cache.
  void release(std::size_t offset, std::size_t size);

 private:
  std::string path_;
  FileDescriptor descriptor_;
  std::uint64_t size_;
  const std::byte* data_ = nullptr;
  Access access_ = Access::unknown;
};

/// Fails with ERROR_OUT_OF_MEMORY if this machine, or the control group of this process, cannot hold so many
/// more bytes. Large sizes are checked before they are allocated, as Linux promises memory that it does not
/// have and ends processes later.
void require_memory(std::uint64_t bytes);

/// Returns text from a file in a form that is safe in a message: at most 60 bytes, without control
/// characters. Valid UTF-8 stays valid.
std::string shown(std::string_view text);

}  // namespace bdl
