// Replaces the program's (and with it libbdl's) system calls for files: each is counted, recorded and fails
// on request.
#pragma once

#ifndef BDL_TEST_ALONE
#error "a test that replaces system calls belongs in a folder alone: it is a program of its own"
#endif

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <vector>

namespace system_calls {

enum Kind {
  OPEN,
  STAT,
  ACCESS,
  CHMOD,
  LOCK,
  WRITE,
  READ,
  FSYNC,
  DUPLICATE,
  CLOSE,
  LINK,
  RENAME,
  UNLINK,
  KINDS
};
inline constexpr std::array<const char*, KINDS> names = {"open",  "stat",   "access", "chmod", "lock",
                                                         "write", "read",   "fsync",  "dup",   "close",
                                                         "link",  "rename", "unlink"};

inline constexpr int half = -1;  // in place of an error: half of the bytes are moved

struct Fault {
  int kind = KINDS;    // of the calls that fail; KINDS: all
  long nth = 0;        // the first that fails; 0: none does
  bool later = false;  // as do all after it
  int error = EIO;
};

/// The abilities that a file system lacks, so that it always refuses them.
struct Lacks {
  bool nameless = false, links = false, locks = false;
};

inline Fault fault;
inline Lacks lacks;
inline std::array<long, KINDS + 1> calls{};  // since arm(); the last: all
inline long failed = 0;
inline bool armed = false;

/// A call that has succeeded and changes what is on the disk, or says which file a number is.
struct Operation {
  Kind kind;
  int file;  // its number; of DUPLICATE, the new one
  std::string path, to, bytes;
  int source = -1;  // of DUPLICATE
};
inline std::vector<Operation>* recorded = nullptr;

inline long record(long result, Operation operation) {
  if (result != -1 && recorded) recorded->push_back(std::move(operation));
  return result;
}

inline void arm(const Fault& wanted) {
  fault = wanted;
  calls.fill(0);
  failed = 0;
  armed = true;
}

inline void disarm() {
  armed = false;
}

/// Whether this call is to fail.
inline bool fails(Kind kind) {
  if (!armed) return false;
  ++calls[kind];
  ++calls[KINDS];
  if (fault.nth == 0 || (fault.kind != KINDS && fault.kind != kind)) return false;
  const long count = calls[fault.kind];
  if (!(count == fault.nth || (fault.later && count > fault.nth))) return false;
  ++failed;
  return true;
}

inline int refuse(int error) {
  errno = error;
  return -1;
}

template <class... Arguments>
long call(Kind kind, long number, Arguments... arguments) {
  if (fails(kind)) return refuse(fault.error);
  return ::syscall(number, arguments...);
}

/// Reading and writing; on request, of half of the bytes.
template <class Bytes>
ssize_t transfer(Kind kind, long number, int file, Bytes* bytes, std::size_t size) {
  const bool affected = fails(kind);
  if (affected && fault.error != half) return refuse(fault.error);
  return ::syscall(number, file, bytes, affected ? (size + 1) / 2 : size);
}

}  // namespace system_calls

#define BDL_REPLACES __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wshadow"  // flock() beside a structure of that name

extern "C" {

BDL_REPLACES int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (system_calls::lacks.nameless && (flags & O_TMPFILE) == O_TMPFILE)
    return system_calls::refuse(EOPNOTSUPP);
  const auto file =
      static_cast<int>(system_calls::call(system_calls::OPEN, SYS_openat, AT_FDCWD, path, flags, mode));
  return static_cast<int>(system_calls::record(file, {system_calls::OPEN, file, path, {}, {}}));
}

BDL_REPLACES int stat(const char* path, struct stat* info) {
  if (system_calls::fails(system_calls::STAT)) return system_calls::refuse(system_calls::fault.error);
  return ::fstatat(AT_FDCWD, path, info, 0);
}

BDL_REPLACES int lstat(const char* path, struct stat* info) {
  if (system_calls::fails(system_calls::STAT)) return system_calls::refuse(system_calls::fault.error);
  return ::fstatat(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}

BDL_REPLACES int fstat(int file, struct stat* info) {
  if (system_calls::fails(system_calls::STAT)) return system_calls::refuse(system_calls::fault.error);
  return ::fstatat(file, "", info, AT_EMPTY_PATH);
}

BDL_REPLACES int faccessat(int folder, const char* path, int mode, int) {
  return static_cast<int>(system_calls::call(system_calls::ACCESS, SYS_faccessat, folder, path, mode));
}

BDL_REPLACES int fchmod(int file, mode_t mode) {
  return static_cast<int>(system_calls::call(system_calls::CHMOD, SYS_fchmod, file, mode));
}

BDL_REPLACES int flock(int file, int operation) {
  if (system_calls::lacks.locks) return system_calls::refuse(ENOLCK);
  return static_cast<int>(system_calls::call(system_calls::LOCK, SYS_flock, file, operation));
}

BDL_REPLACES ssize_t write(int file, const void* bytes, std::size_t size) {
  const ssize_t done = system_calls::transfer(system_calls::WRITE, SYS_write, file, bytes, size);
  if (done == -1 || !system_calls::recorded) return done;
  std::string written(static_cast<const char*>(bytes), static_cast<std::size_t>(done));
  return system_calls::record(done, {system_calls::WRITE, file, {}, {}, std::move(written)});
}

BDL_REPLACES ssize_t read(int file, void* bytes, std::size_t size) {
  return system_calls::transfer(system_calls::READ, SYS_read, file, bytes, size);
}

/// Promises to flush: these tests end no kernel, and would wait for the disk.
BDL_REPLACES int fsync(int file) {
  if (system_calls::fails(system_calls::FSYNC)) return system_calls::refuse(system_calls::fault.error);
  return static_cast<int>(system_calls::record(0, {system_calls::FSYNC, file, {}, {}, {}}));
}

BDL_REPLACES int fcntl(int file, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  if (command != F_DUPFD_CLOEXEC) return static_cast<int>(::syscall(SYS_fcntl, file, command, argument));
  const auto second = static_cast<int>(
      system_calls::call(system_calls::DUPLICATE, SYS_fcntl, file, command, static_cast<int>(argument)));
  return static_cast<int>(system_calls::record(second, {system_calls::DUPLICATE, second, {}, {}, {}, file}));
}

/// A close that fails has closed.
BDL_REPLACES int close(int file) {
  const bool affected = system_calls::fails(system_calls::CLOSE);
  const auto result = static_cast<int>(::syscall(SYS_close, file));
  return affected ? system_calls::refuse(system_calls::fault.error) : result;
}

BDL_REPLACES int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (system_calls::lacks.links) return system_calls::refuse(ENOENT);
  const long result =
      system_calls::call(system_calls::LINK, SYS_linkat, from_folder, from, to_folder, to, flags);
  const int file = std::atoi(from + sizeof "/proc/self/fd/" - 1);
  return static_cast<int>(system_calls::record(result, {system_calls::LINK, file, from, to, {}}));
}

BDL_REPLACES int rename(const char* from, const char* to) {
  const long result =
      system_calls::call(system_calls::RENAME, SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  return static_cast<int>(system_calls::record(result, {system_calls::RENAME, -1, from, to, {}}));
}

BDL_REPLACES int unlink(const char* path) {
  return static_cast<int>(
      system_calls::record(system_calls::call(system_calls::UNLINK, SYS_unlinkat, AT_FDCWD, path, 0),
                           {system_calls::UNLINK, -1, path, {}, {}}));
}
}
