#include "io/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace bdl {
namespace {

int open_for_reading(const char* path) {
  // O_NONBLOCK: opening a pipe nobody writes to must not hang; regular files ignore it.
  const int number = retry_interrupted([&] { return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (number == -1) fail_with_errno(path, "open for reading");
  return number;
}

std::uint64_t regular_file_size(int number, const std::string& path) {
  struct stat info;
  if (::fstat(number, &info) == -1) fail_with_errno(path, "inspect");
  if (!S_ISREG(info.st_mode)) {
    fail(Status::ERROR_FILE, "%.250s: is %s, expected a regular file", path.c_str(),
         S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
  }
  return static_cast<std::uint64_t>(info.st_size);
}

std::size_t page_size() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void fail_with_errno(const std::string& path, const char* action) {
  const int reason = errno;
  fail(Status::ERROR_FILE, "%.250s: cannot %s: %s", path.c_str(), action,
       std::generic_category().message(reason).c_str());
}

bool FileDescriptor::close() {
  if (number_ == -1) return true;
  const int result = ::close(number_);
  number_ = -1;
  return result == 0 || errno == EINTR;  // Linux has closed it even when interrupted
}

InputFile::InputFile(const char* path)
    : path_(path),
      descriptor_(open_for_reading(path)),
      size_(regular_file_size(descriptor_.number(), path_)) {}

void InputFile::read(std::span<std::byte> out) {
  while (!out.empty()) {
    check_loop();
    const std::size_t wanted = std::min(out.size(), largest_transfer);
    const ssize_t got = retry_interrupted([&] { return ::read(descriptor_.number(), out.data(), wanted); });
    if (got == -1) fail_with_errno(path_, "read");
    if (got == 0) {
      fail(Status::ERROR_FILE, "%.250s: file became shorter while it was read: %zu bytes missing",
           path_.c_str(), out.size());
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

MappedFile::MappedFile(const char* path)
    : path_(path),
      descriptor_(open_for_reading(path)),
      size_(regular_file_size(descriptor_.number(), path_)) {
  if (size_ == 0) return;
  void* const mapped =
      ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ, MAP_SHARED, descriptor_.number(), 0);
  if (mapped == MAP_FAILED) fail_with_errno(path_, "map");
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), static_cast<std::size_t>(size_));
}

void MappedFile::check_size() const {
  const std::uint64_t size = regular_file_size(descriptor_.number(), path_);
  if (size < size_)
    fail(Status::ERROR_FILE, "%.250s: file became shorter while it was in use: it has %llu bytes, had %llu",
         path_.c_str(), static_cast<unsigned long long>(size), static_cast<unsigned long long>(size_));
}

/// Only a hint: a system that does not take it reads as it does by itself.
void MappedFile::expect(Access access) {
  if (!data_ || access == access_) return;
  access_ = access;
  ::posix_madvise(const_cast<std::byte*>(data_), static_cast<std::size_t>(size_),
                  access == Access::scattered ? POSIX_MADV_RANDOM : POSIX_MADV_NORMAL);
}

/// Hints as well. Whole pages: those that the bytes are in, or those that hold nothing else.
void MappedFile::prefetch(std::size_t offset, std::size_t size) {
  const std::size_t page = page_size(), first = offset / page * page;
  if (data_)
    ::posix_madvise(const_cast<std::byte*>(data_) + first, offset + size - first, POSIX_MADV_WILLNEED);
}

void MappedFile::release(std::size_t offset, std::size_t size) {
  const std::size_t page = page_size(), first = (offset + page - 1) / page * page,
                    end = (offset + size) / page * page;
  if (data_ && end > first) ::madvise(const_cast<std::byte*>(data_) + first, end - first, MADV_DONTNEED);
}

}  // namespace bdl
