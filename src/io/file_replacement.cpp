#include "io/file_replacement.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "io/file.hpp"

namespace bdl {
namespace {

constexpr int most_names = 1000;
constexpr int always_inspected = 16;  // there may be gaps among the names of this many

std::string temporary_name(const std::string& folder, int number) {
  return folder + "/.bdl-" + std::to_string(number) + ".tmp";
}

enum class Answer { no, yes, unknown };

/// Says whether the open file has this name.
Answer is_named(int number, const std::string& name) {
  struct stat opened, named;
  if (::fstat(number, &opened) == -1) return Answer::unknown;
  if (::lstat(name.c_str(), &named) == -1) return errno == ENOENT ? Answer::no : Answer::unknown;
  const bool same = S_ISREG(named.st_mode) && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  return same ? Answer::yes : Answer::no;
}

bool lock(int number) {
  return retry_interrupted([&] { return ::flock(number, LOCK_EX | LOCK_NB); }) == 0;
}

/// Returns true if something has that name. In a folder that others write to it may be anything, so no link
/// is followed, no pipe waited for and nothing written. Only the holder of a file's lock renames the file.
bool remove_if_abandoned(const std::string& name) {
  const FileDescriptor file(retry_interrupted(
      [&] { return ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }));
  if (file.number() == -1) return errno != ENOENT;
  if (lock(file.number()) && is_named(file.number(), name) == Answer::yes) ::unlink(name.c_str());
  return true;
}

/// Locks a file that has a name already; false if another process has removed it as abandoned. Nothing is
/// ever removed on file systems without locks.
bool lock_named(int number, const std::string& name) {
  if (!lock(number)) return errno != EWOULDBLOCK;
  return is_named(number, name) != Answer::no;
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& folder, mode_t mode, bool named)
    : folder_(folder), descriptor_(named ? -1 : retry_interrupted([&] {
        return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
      })) {
  if (number() != -1)
    lock(number());
  else
    create_named(mode);
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

void TemporaryFile::create_named(mode_t mode) {
  errno = EEXIST;
  for (int k = 0; k < most_names && errno == EEXIST; ++k) {
    std::string name = temporary_name(folder_, k);
    FileDescriptor created(retry_interrupted(
        [&] { return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); }));
    if (created.number() == -1) continue;
    if (lock_named(created.number(), name)) {
      name_.swap(name);
      descriptor_ = std::move(created);
      return;
    }
    errno = EEXIST;
  }
}

bool TemporaryFile::link_as(const std::string& name) const {
  char self[40];
  std::snprintf(self, sizeof self, "/proc/self/fd/%d", number());
  return ::linkat(AT_FDCWD, self, AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

bool TemporaryFile::link_temporarily() {
  for (int k = 0; k < most_names; ++k) {
    std::string name = temporary_name(folder_, k);
    if (link_as(name)) {
      name_.swap(name);
      return true;
    }
    if (errno != EEXIST) return false;
  }
  return false;
}

bool TemporaryFile::move_to(const std::string& path) {
  if (name_.empty()) {
    if (link_as(path)) return true;
    if (errno != EEXIST || !link_temporarily()) return false;
  }
  if (::rename(name_.c_str(), path.c_str()) == -1) return false;
  name_.clear();
  return true;
}

void remove_abandoned_files(const std::string& folder) {
  bool exists = true;
  for (int k = 0; k < most_names && (exists || k < always_inspected); ++k)
    exists = remove_if_abandoned(temporary_name(folder, k));
}

namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

/// Returns the permissions of the old file, if there is one. Devices and write-protected files are refused
/// here, as renaming over them would succeed.
std::optional<mode_t> old_permissions(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == -1) {
    if (errno != ENOENT) fail_with_errno(path, "replace");
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode))
    fail(Status::ERROR_FILE, "%.250s: cannot write: is %s, expected a regular file or nothing", path.c_str(),
         S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == -1) fail_with_errno(path, "replace");
  return info.st_mode & 0777;
}

/// Returns false and sets errno to EFBIG if the process may not write a file of this size (RLIMIT_FSIZE):
/// writing it would raise SIGXFSZ, which ends a process that does not expect it.
bool is_allowed(std::uint64_t size) {
  rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) == -1 || size <= limit.rlim_cur) return true;
  errno = EFBIG;
  return false;
}

/// Flushes the file. Some network and user-space file systems have no fsync, which is no error of the data.
bool flush_to_device(int number) {
  const int result = retry_interrupted([&] { return ::fsync(number); });
  return result == 0 || errno == EINVAL || errno == ENOSYS;
}

/// Returns false if the system has delayed a write error, which closing reports. A second descriptor is
/// closed, as closing the last one would end the lock.
bool report_delayed_errors(int number) {
  FileDescriptor second(::fcntl(number, F_DUPFD_CLOEXEC, 0));
  return second.number() != -1 && second.close();
}

/// Tries to flush the folder: the new file is whole and in place, so a power failure can at worst bring back
/// the old one.
void flush_folder(const std::string& folder) {
  const FileDescriptor descriptor(
      retry_interrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor.number() != -1) flush_to_device(descriptor.number());
}

}  // namespace

FileReplacement::FileReplacement(const std::string& path, const std::string& folder,
                                 std::optional<mode_t> permissions, bool named)
    : path_(path), folder_(folder), temporary_(folder, permissions.value_or(0666), named) {
  if (temporary_.number() == -1) fail_with_errno(path_, "create a temporary file in its folder");
  // The new file gets exactly the old permissions, whatever the umask; a file system without permissions may
  // refuse.
  if (permissions) static_cast<void>(::fchmod(temporary_.number(), *permissions));
}

void FileReplacement::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    check_loop();
    const std::size_t wanted = std::min(bytes.size(), largest_transfer);
    const ssize_t done = retry_interrupted(
        [&] { return is_allowed(size_ + wanted) ? ::write(temporary_.number(), bytes.data(), wanted) : -1; });
    if (done == -1) fail_with_errno(path_, "write");
    size_ += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

bool FileReplacement::commit() {
  if (!flush_to_device(temporary_.number())) fail_with_errno(path_, "flush");
  if (!report_delayed_errors(temporary_.number())) fail_with_errno(path_, "close");
  if (!temporary_.move_to(path_)) {
    if (!temporary_.has_name()) return false;
    fail_with_errno(path_, "rename the temporary file");
  }
  flush_folder(folder_);
  return true;
}

void replace_file(const char* path, FunctionRef<void(FileReplacement&)> write) {
  const std::string name = path, folder = folder_of(name);
  const std::optional<mode_t> permissions = old_permissions(name);
  remove_abandoned_files(folder);
  for (const bool named : {false, true}) {
    FileReplacement file(name, folder, permissions, named);
    write(file);
    if (file.commit()) return;
  }
}

}  // namespace bdl
