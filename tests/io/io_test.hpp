// Shared by the CMocka programs of this folder.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "archive_samples.hpp"
#include "base/error.hpp"

// Last: its macro fail() would break the headers above.
#include <setjmp.h>
extern "C" {
#include <cmocka.h>
}

namespace bdl::testing {

/// The call must fail with this status and a message that contains `word`.
template <class Call>
void expect_error(const char* label, Status status, const char* word, Call call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.status() == status && std::strstr(error.what(), word)) return;
    fail_msg("%s: got status %d, '%s'; expected %d, '%s'", label, static_cast<int>(error.status()),
             error.what(), static_cast<int>(status), word);
  }
  fail_msg("%s: got success, expected '%s'", label, word);
}

/// A fresh folder, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "bdl-io-XXXXXX").string();
    assert_non_null(::mkdtemp(name.data()));
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }
  std::ptrdiff_t entry_count() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::string path_;
};

inline Bytes file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes_of(text);
}

inline void put_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  assert_true(file.good());
}

}  // namespace bdl::testing
