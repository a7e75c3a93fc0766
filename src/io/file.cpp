#include "io/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr std::size_t largest_transfer = std::size_t{1} << 30;  // Linux moves less than 2 GiB per call

[[noreturn]] void fail_with_errno(const std::string& path, const char* action) {
  const int reason = errno;
  fail(Status::ERROR_FILE, "%.250s: cannot %s: %s", path.c_str(), action,
       std::generic_category().message(reason).c_str());
}

template <class Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

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

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

/// Renaming over a device or a write-protected file would succeed, so both are refused here. Returns the mode
/// of the new file: that of the old one, so a private file stays private.
mode_t replaceable_file_mode(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == -1) {
    if (errno != ENOENT) fail_with_errno(path, "replace");
    return 0666;
  }
  if (!S_ISREG(info.st_mode)) {
    fail(Status::ERROR_FILE, "%.250s: cannot write: is %s, expected a regular file or nothing", path.c_str(),
         S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
  }
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == -1) fail_with_errno(path, "replace");
  return info.st_mode & 0777;
}

std::string temporary_name(const std::string& folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return folder + "/.bdl-" + std::to_string(::getpid()) + "-" + std::to_string(now) + ".tmp";
}

/// Creates a new file next to `path` and stores its name in `temporary`.
int create_temporary(const std::string& path, const std::string& folder, std::string& temporary) {
  const mode_t mode = replaceable_file_mode(path);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = temporary_name(folder);
    const int number = retry_interrupted(
        [&] { return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
    if (number != -1) {
      temporary.swap(name);
      return number;
    }
    if (errno != EEXIST) break;
  }
  fail_with_errno(path, "create a temporary file in its folder");
}

/// Some network and user-space file systems have no fsync; that is not an error of the data.
bool flush_to_device(int number) {
  const int result = retry_interrupted([&] { return ::fsync(number); });
  return result == 0 || errno == EINVAL || errno == ENOSYS;
}

/// Best effort: the new file is whole and in place, so a power failure can at worst bring the old one back.
void flush_folder(const std::string& folder) {
  const int number =
      retry_interrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (number == -1) return;
  const FileDescriptor descriptor(number);
  flush_to_device(number);
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  close();
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

FileReplacement::FileReplacement(const char* path)
    : path_(path), folder_(folder_of(path_)), descriptor_(create_temporary(path_, folder_, temporary_)) {}

FileReplacement::~FileReplacement() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileReplacement::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t wanted = std::min(bytes.size(), largest_transfer);
    const ssize_t done =
        retry_interrupted([&] { return ::write(descriptor_.number(), bytes.data(), wanted); });
    if (done == -1) fail_with_errno(path_, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void FileReplacement::commit() {
  if (!flush_to_device(descriptor_.number())) fail_with_errno(path_, "flush");
  if (!descriptor_.close()) fail_with_errno(path_, "close");
  if (::rename(temporary_.c_str(), path_.c_str()) == -1) fail_with_errno(path_, "rename the temporary file");
  temporary_.clear();
  flush_folder(folder_);
}

}  // namespace bdl
