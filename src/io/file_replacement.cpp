#include "io/file_replacement.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "io/file.hpp"

namespace bdl {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

/// The permissions of the old file, if there is one. Renaming over a device or a write-protected file would
/// succeed, so both are refused here.
std::optional<mode_t> old_permissions(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == -1) {
    if (errno != ENOENT) fail_with_errno(path, "replace");
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode)) {
    fail(Status::ERROR_FILE, "%.250s: cannot write: is %s, expected a regular file or nothing", path.c_str(),
         S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
  }
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == -1) fail_with_errno(path, "replace");
  return info.st_mode & 0777;
}

/// False, with errno EFBIG, if the process may not have a file of this size (RLIMIT_FSIZE): writing it would
/// raise SIGXFSZ, which ends a process that does not expect it.
bool is_allowed(std::uint64_t size) {
  rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) == -1 || size <= limit.rlim_cur) return true;
  errno = EFBIG;
  return false;
}

/// Some network and user-space file systems have no fsync; that is not an error of the data.
bool flush_to_device(int number) {
  const int result = retry_interrupted([&] { return ::fsync(number); });
  return result == 0 || errno == EINVAL || errno == ENOSYS;
}

/// Closing reports write errors that some file systems have delayed. A second descriptor is closed, as the
/// lock ends with the last one.
bool report_delayed_errors(int number) {
  FileDescriptor second(::fcntl(number, F_DUPFD_CLOEXEC, 0));
  return second.number() != -1 && second.close();
}

/// Best effort: the new file is whole and in place, so a power failure can at worst bring the old one back.
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
  // Exactly those of the old file, so a private file stays private, and a shared one shared whatever the
  // umask; a file system without permissions may refuse.
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
