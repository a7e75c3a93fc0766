// System calls: those that a signal interrupts are repeated; those that fail are an Error with path and
// reason.
#pragma once

#include <cerrno>
#include <string>
#include <utility>

namespace bdl {

/// Fails with ERROR_FILE and the text of errno.
[[noreturn]] void fail_with_errno(const std::string& path, const char* action);

template <class Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  /// -1: none.
  int number() const { return number_; }
  /// Closes now; false and errno if the system reports a delayed write error.
  bool close();

 private:
  int number_;
};

}  // namespace bdl
