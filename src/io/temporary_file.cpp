#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace bdl {
namespace {

constexpr int most_names = 1000;
constexpr int always_inspected = 16;  // there may be gaps among the names of this many

std::string temporary_name(const std::string& folder, int number) {
  return folder + "/.bdl-" + std::to_string(number) + ".tmp";
}

enum class Answer { no, yes, unknown };

/// Whether the open file has this name.
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

/// Whether there is something of that name. In a folder that others write to, it may be anything: no link is
/// followed, no pipe waited for, and nothing written. A file whose lock we hold keeps its name: it is moved
/// by who holds it.
bool remove_if_abandoned(const std::string& name) {
  const FileDescriptor file(retry_interrupted(
      [&] { return ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }));
  if (file.number() == -1) return errno != ENOENT;
  if (lock(file.number()) && is_named(file.number(), name) == Answer::yes) ::unlink(name.c_str());
  return true;
}

/// The lock, in a file that has a name already: false if it was taken for abandoned before. Some file systems
/// have no locks; nothing is ever removed there.
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

}  // namespace bdl
