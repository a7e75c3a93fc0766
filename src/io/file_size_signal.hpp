#pragma once

#include <csignal>

namespace bdl {

/// While it lives, a write beyond the limit of file sizes (RLIMIT_FSIZE) fails with EFBIG and nothing else:
/// SIGXFSZ, which would end the process, is blocked on this thread, and taken back where one was raised.
/// Handlers, other threads and signals that had been waiting before are left alone.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked();
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;
  ~FileSizeSignalBlocked();

  /// To be called after a write that failed with EFBIG.
  void take_back();

 private:
  sigset_t before_;  // the thread's mask
  bool was_waiting_ = false;
};

}  // namespace bdl
