// Temporary files that no dead process leaves behind for long. Where the file system can (O_TMPFILE), a new
// file has no name until it is whole; elsewhere, and for the instant between getting a name and replacing the
// old file, names are .bdl-0.tmp, .bdl-1.tmp ... of the folder. Whoever writes such a file holds a lock on it
// (flock), which ends with the process, so one that can be locked is a dead process's; the next save into the
// folder removes it.
#pragma once

#include <sys/types.h>

#include <string>

#include "io/system_call.hpp"

namespace bdl {

class TemporaryFile {
 public:
  /// named: from the start, as the file system cannot give a name later.
  TemporaryFile(const std::string& folder, mode_t mode, bool named);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  /// Removes it.
  ~TemporaryFile();

  /// -1 and errno: it could not be created.
  int number() const { return descriptor_.number(); }
  bool has_name() const { return !name_.empty(); }
  /// Gives it this name, in the same folder, in place of what has it. False and errno if that cannot be;
  /// without a name still, because the file system cannot give it one.
  bool move_to(const std::string& path);

 private:
  void create_named(mode_t mode);
  bool link_as(const std::string& name) const;
  bool link_temporarily();

  std::string folder_, name_;  // no name: nothing to remove
  FileDescriptor descriptor_;
};

/// Removes the temporary files of dead processes.
void remove_abandoned_files(const std::string& folder);

}  // namespace bdl
