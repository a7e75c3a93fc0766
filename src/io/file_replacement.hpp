#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/function_ref.hpp"
#include "io/temporary_file.hpp"

namespace bdl {

/// The new contents of a file, on the way: in a temporary file of the same folder.
class FileReplacement {
 public:
  /// permissions: of the old file, if there is one. named: as for TemporaryFile.
  FileReplacement(const std::string& path, const std::string& folder, std::optional<mode_t> permissions,
                  bool named);

  void write(std::span<const std::byte> bytes);
  /// Flushes to the device and puts the file in place; once, as the last thing. False if the file system
  /// cannot name a file that it has opened without a name.
  bool commit();

 private:
  std::string path_, folder_;
  TemporaryFile temporary_;
  std::uint64_t size_ = 0;  // bytes written
};

/// Replaces the file by what `write` writes, in one step: before that, and after any failure, the old file is
/// untouched. A symbolic link is replaced, not followed; other hard links keep the old contents; the new file
/// has the permissions of the old one, and the owner and group of the process. `write` may be called twice.
void replace_file(const char* path, FunctionRef<void(FileReplacement&)> write);

}  // namespace bdl
