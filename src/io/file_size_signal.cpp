#include "io/file_size_signal.hpp"

#include <cerrno>
#include <ctime>

namespace bdl {
namespace {

sigset_t only_file_size() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

FileSizeSignalBlocked::FileSizeSignalBlocked() {
  sigset_t waiting;
  was_waiting_ = ::sigpending(&waiting) == 0 && sigismember(&waiting, SIGXFSZ) == 1;
  const sigset_t set = only_file_size();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

FileSizeSignalBlocked::~FileSizeSignalBlocked() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void FileSizeSignalBlocked::take_back() {
  if (was_waiting_) return;  // the kernel keeps one of a kind, and that one is the host's
  const int reason = errno;
  const sigset_t set = only_file_size();
  const std::timespec none{};
  while (::sigtimedwait(&set, nullptr, &none) == -1 && errno == EINTR) {
  }
  errno = reason;
}

}  // namespace bdl
