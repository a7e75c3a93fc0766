#include "io/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace bdl {
namespace {

int open_for_reading(const char* path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang; regular files ignore the flag.
  const int number = retry_interrupted([&] { return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (number == -1) fail_with_errno(path, "open for reading");
  return number;
}

std::uint64_t regular_file_size(int number, const std::string& path) {
  struct stat info;
  if (::fstat(number, &info) == -1) fail_with_errno(path, "inspect");
  if (!S_ISREG(info.st_mode))
    fail(Status::ERROR_FILE, "%.250s: is %s, expected a regular file", path.c_str(),
         S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
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
    if (got == 0)
      fail(Status::ERROR_FILE, "%.250s: file became shorter while it was read: %zu bytes missing",
           path_.c_str(), out.size());
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

/// posix_madvise() only hints; a system may ignore it.
void MappedFile::expect(Access access) {
  if (!data_ || access == access_) return;
  access_ = access;
  ::posix_madvise(const_cast<std::byte*>(data_), static_cast<std::size_t>(size_),
                  access == Access::scattered ? POSIX_MADV_RANDOM : POSIX_MADV_NORMAL);
}

/// Prefetches the pages that the bytes lie in; release() drops those that hold nothing else.
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

namespace {

constexpr std::uint64_t always_held = std::uint64_t{16} << 20;  // bytes that are never checked
constexpr std::uint64_t unlimited = UINT64_MAX;

/// Returns the first number in the text, or `unlimited` if there is none ("max").
std::uint64_t first_number(const std::string& text) {
  std::uint64_t number = unlimited;
  const std::size_t digit = std::min(text.find_first_of("0123456789"), text.size());
  std::from_chars(text.data() + digit, text.data() + text.size(), number);
  return number;
}

/// Returns the memory available without moving other processes' memory to disk, plus the free swap space.
std::uint64_t free_on_this_machine() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t available = unlimited, swap = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) available = first_number(line) * 1024;
    if (line.starts_with("SwapFree:")) swap = first_number(line) * 1024;
  }
  return available == unlimited ? unlimited : available + swap;
}

/// Returns the lowest limit from this group up to the root, as outer groups bind inner ones. A container may
/// see no group but the root.
std::uint64_t least_limit(const std::string& root, std::string group, const char* file_name) {
  std::uint64_t least = unlimited;
  while (true) {
    std::ifstream file(root + group + "/" + file_name);
    std::string text;
    if (std::getline(file, text)) least = std::min(least, first_number(text));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

std::uint64_t limit_of_control_group() {
  std::ifstream file("/proc/self/cgroup");
  std::uint64_t least = unlimited;
  // Lines are "0::/group", or "4:memory:/group" of the first version.
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(":/");
    if (colon == std::string::npos) continue;
    const std::string group = line.substr(colon + 1);
    if (line.starts_with("0::"))
      least = std::min(least, least_limit("/sys/fs/cgroup", group, "memory.max"));
    else if (line.find("memory:/") != std::string::npos)
      least = std::min(least, least_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace

void require_memory(std::uint64_t bytes) {
  if (bytes <= always_held) return;
  const std::uint64_t available = std::min(free_on_this_machine(), limit_of_control_group());
  if (bytes > available)
    fail(Status::ERROR_OUT_OF_MEMORY, "out of memory: %llu MiB are needed, %llu are available",
         static_cast<unsigned long long>(bytes >> 20), static_cast<unsigned long long>(available >> 20));
}

std::string shown(std::string_view text) {
  std::size_t length = std::min<std::size_t>(text.size(), 60);
  const auto inside_character = [&] { return (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80; };
  while (length > 0 && length < text.size() && inside_character()) --length;
  std::string result(text.substr(0, length));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return length < text.size() ? result + "..." : result;
}

}  // namespace bdl
