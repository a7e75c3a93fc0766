// A file is replaced in one step: its new contents are written to a temporary file of the same folder, which
// is then renamed. Where the file system supports it (O_TMPFILE), the temporary file has no name until it is
// whole; elsewhere, and for the instant between getting a name and replacing the old file, it is called
// .bdl-0.tmp, .bdl-1.tmp ... The process that writes it holds a lock on it (flock), which ends with the
// process. A temporary file that can be locked was therefore left by a dead process, and the next save into
// the folder removes it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/function_ref.hpp"
#include "io/file.hpp"

namespace bdl {

class TemporaryFile {
 public:
  /// `named` gives the file a name from the start, for file systems that cannot give one later.
  TemporaryFile(const std::string& folder, mode_t mode, bool named);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  /// Removes the file if it still has its temporary name.
  ~TemporaryFile();

  /// Returns -1, and errno says why, if the file could not be created.
  int number() const { return descriptor_.number(); }
  bool has_name() const { return !name_.empty(); }
  /// Gives the file this name, in the same folder, replacing what has it. Returns false and sets errno on
  /// failure; if the file then still has no name, the file system cannot give it one.
  bool move_to(const std::string& path);

 private:
  void create_named(mode_t mode);
  bool link_as(const std::string& name) const;
  bool link_temporarily();

  std::string folder_, name_;  // an empty name: there is nothing to remove
  FileDescriptor descriptor_;
};

/// Removes the temporary files of dead processes.
void remove_abandoned_files(const std::string& folder);

/// New contents of a file, while they are written to a temporary file.
class FileReplacement {
 public:
  /// `permissions` are those of the old file, if there is one; `named` is as for TemporaryFile.
  FileReplacement(const std::string& path, const std::string& folder, std::optional<mode_t> permissions,
                  bool named);

  void write(std::span<const std::byte> bytes);
  /// Flushes to the device and puts the file in place; called once, at the end. Returns false if the file
  /// system cannot name a file that it has opened without a name.
  bool commit();

 private:
  std::string path_, folder_;
  TemporaryFile temporary_;
  std::uint64_t size_ = 0;  // bytes written
};

/// Replaces the file by what `write` writes; until the last moment, and after any failure, the old file is
/// untouched. A symbolic link is replaced, not followed; other hard links keep the old contents; the new file
/// has the permissions of the old one, and the owner and group of the process. `write` may be called twice.
void replace_file(const char* path, FunctionRef<void(FileReplacement&)> write);

}  // namespace bdl
