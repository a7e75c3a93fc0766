// The file system says no: reading reports the reason, writing leaves the old file and nothing else behind.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "io/file.hpp"
#include "io/file_replacement.hpp"
#include "io_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

const std::array<std::uint8_t, 100'000> many{};
const std::array many_tensors{make_tensor<std::uint8_t>("many", {100'000}, many)};

void expect_write_error(const std::string& path, const char* reason) {
  expect_error(path.c_str(), Status::ERROR_FILE, reason,
               [&] { write_archive(path.c_str(), {}, many_tensors); });
  expect_error(path.c_str(), Status::ERROR_FILE, path.substr(0, 250).c_str(),
               [&] { write_archive(path.c_str(), {}, many_tensors); });
}

void expect_read_error(const std::string& path, Status status, const char* reason) {
  expect_error(path.c_str(), status, reason, [&] { read_archive(path.c_str()); });
  expect_error(path.c_str(), status, path.c_str(), [&] { read_archive(path.c_str()); });
}

/// Permissions do not bind root, so tests of them run as nobody.
class Unprivileged {
 public:
  Unprivileged() : previous_(::geteuid()) {
    if (previous_ == 0) assert_int_equal(::seteuid(65534), 0);
  }
  ~Unprivileged() {
    if (previous_ == 0) assert_int_equal(::seteuid(previous_), 0);
  }

 private:
  uid_t previous_;
};

/// A folder with one file that no failure may change.
struct OldFile {
  TemporaryFolder folder;
  std::string path = folder.file("old.safetensors");
  Bytes contents = small_archive();

  OldFile() { put_file(path, contents); }
  void expect_untouched(std::ptrdiff_t entries = 1) const {
    assert_true(file_bytes(path) == contents);
    assert_int_equal(folder.entry_count(), entries);
  }
};

void test_unreadable_paths(void**) {
  const TemporaryFolder folder;
  expect_read_error("", Status::ERROR_FILE, "No such file");
  expect_read_error(folder.file("missing"), Status::ERROR_FILE, "No such file");
  expect_read_error(folder.path(), Status::ERROR_FILE, "is a directory, expected a regular file");
  expect_read_error("/dev/zero", Status::ERROR_FILE, "is a device or pipe");
  assert_int_equal(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  expect_read_error(folder.file("pipe"), Status::ERROR_FILE, "is a device or pipe");
  put_file(folder.file("empty"), {});
  expect_read_error(folder.file("empty"), Status::ERROR_FORMAT, "archive has 0 bytes, expected at least 8");
  put_file(folder.file("short"), Bytes(7));
  expect_read_error(folder.file("short"), Status::ERROR_FORMAT, "archive has 7 bytes, expected at least 8");
}

void test_unreadable_file(void**) {
  const OldFile old;
  assert_int_equal(::chmod(old.folder.path().c_str(), 0755), 0);
  assert_int_equal(::chmod(old.path.c_str(), 0), 0);
  const Unprivileged nobody;
  expect_read_error(old.path, Status::ERROR_FILE, "Permission denied");
}

void test_truncated_files(void**) {
  const OldFile old;
  for (std::size_t size = old.contents.size(); size-- > 0;) {
    assert_int_equal(::truncate(old.path.c_str(), static_cast<off_t>(size)), 0);
    expect_error("truncated", Status::ERROR_FORMAT, old.path.c_str(),
                 [&] { read_archive(old.path.c_str()); });
  }
}

void test_huge_sparse_file(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.file("sparse");
  put_file(path, archive_with_header("{}", 0));
  if (::truncate(path.c_str(), off_t{1} << 43) == -1)
    assert_int_equal(::truncate(path.c_str(), off_t{1} << 40), 0);
  expect_read_error(path, Status::ERROR_FORMAT, "bytes of tensor data, header expected 0");
}

void test_file_that_shrinks(void**) {
  const OldFile old;
  InputFile file(old.path.c_str());
  assert_int_equal(file.size(), old.contents.size());
  assert_int_equal(::truncate(old.path.c_str(), 10), 0);
  Bytes bytes(file.size());
  expect_error("shrinks", Status::ERROR_FILE, "became shorter while it was read", [&] { file.read(bytes); });
}

void test_replaces_the_old_file(void**) {
  const OldFile old;
  assert_int_equal(::chmod(old.path.c_str(), 0600), 0);
  write_archive(old.path.c_str(), {}, many_tensors);
  assert_int_equal(read_archive(old.path.c_str()).at("many").bytes.size(), many.size());
  assert_int_equal(old.folder.entry_count(), 1);
  struct stat info;
  assert_int_equal(::stat(old.path.c_str(), &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
}

void test_writes_relative_paths(void**) {
  const TemporaryFolder folder;
  const std::filesystem::path previous = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_archive("relative", {}, many_tensors);
  std::filesystem::current_path(previous);
  assert_int_equal(read_archive(folder.file("relative").c_str()).tensors().size(), 1);
  assert_int_equal(folder.entry_count(), 1);
}

void test_unwritable_paths(void**) {
  const OldFile old;
  expect_write_error(old.folder.file("missing/file"), "No such file");
  expect_write_error(old.folder.path(), "is a directory");
  expect_write_error(old.path + "/below", "Not a directory");
  expect_write_error(old.folder.file("") + std::string(300, 'n'), "File name too long");
  old.expect_untouched();
}

void test_a_device_is_not_replaced(void**) {
  expect_write_error("/dev/full", "is a device or pipe");
  assert_true(std::filesystem::is_character_file("/dev/full"));
}

void test_missing_permission(void**) {
  const OldFile old;
  assert_int_equal(::chmod(old.folder.path().c_str(), 0555), 0);
  {
    const Unprivileged nobody;
    expect_write_error(old.folder.file("new"), "Permission denied");
  }
  assert_int_equal(::chmod(old.folder.path().c_str(), 0777), 0);
  assert_int_equal(::chmod(old.path.c_str(), 0444), 0);
  {
    const Unprivileged nobody;
    expect_write_error(old.path, "Permission denied");
  }
  old.expect_untouched();
}

/// Files of at most 5000 bytes: the header fits, the tensor does not.
class SmallFiles {
 public:
  SmallFiles() {
    assert_int_equal(::getrlimit(RLIMIT_FSIZE, &previous_), 0);
    rlimit small = previous_;
    small.rlim_cur = 5000;
    assert_int_equal(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~SmallFiles() { assert_int_equal(::setrlimit(RLIMIT_FSIZE, &previous_), 0); }

 private:
  rlimit previous_;
};

int handled = 0;
void count_signal(int) {
  ++handled;
}

/// The signal of that limit, which ends a process that does not expect it, reaches neither the process nor
/// its handler.
void test_limit_of_file_size(void**) {
  const OldFile old;
  for (void (*const action)(int) : {SIG_DFL, SIG_IGN, &count_signal}) {
    const auto previous = std::signal(SIGXFSZ, action);
    {
      const SmallFiles limit;
      expect_write_error(old.path, "cannot write: File too large");
    }
    assert_true(std::signal(SIGXFSZ, previous) == action);
    old.expect_untouched();
  }
  assert_int_equal(handled, 0);
}

void replace(const std::string& path, const Bytes& bytes) {
  replace_file(path.c_str(), [&](FileReplacement& file) { file.write(bytes); });
}

void test_failing_rename(void**) {
  const OldFile old;
  const std::string path = old.folder.file("new");
  expect_error("rename", Status::ERROR_FILE, "cannot rename the temporary file: Is a directory", [&] {
    replace_file(path.c_str(), [&](FileReplacement& file) {
      file.write(old.contents);
      assert_int_equal(::mkdir(path.c_str(), 0700), 0);
    });
  });
  old.expect_untouched(2);
}

void test_abandoned_replacement(void**) {
  const OldFile old;
  for (const bool named : {false, true}) {
    {
      FileReplacement file(old.path, old.folder.path(), 0600, named);
      file.write(Bytes(10));
      assert_int_equal(old.folder.entry_count(), named ? 2 : 1);  // else the file system does without a name
    }
    old.expect_untouched();
  }
}

mode_t permissions(const std::string& path) {
  struct stat info;
  assert_int_equal(::lstat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

/// Those of the old file, wider and narrower than the umask; of a new file, what the umask leaves.
void test_permissions(void**) {
  const OldFile old;
  const mode_t previous = ::umask(027);
  for (const mode_t mode : {0666, 0640, 0600, 0604, 0755}) {
    assert_int_equal(::chmod(old.path.c_str(), mode), 0);
    replace(old.path, old.contents);
    assert_int_equal(permissions(old.path), mode);
  }
  replace(old.folder.file("new"), old.contents);
  assert_int_equal(permissions(old.folder.file("new")), 0640);
  ::umask(previous);
}

void test_links(void**) {
  const OldFile old;
  const std::string hard = old.folder.file("hard"), soft = old.folder.file("soft"), other = "other contents";
  assert_int_equal(::link(old.path.c_str(), hard.c_str()), 0);
  assert_int_equal(::symlink("hard", soft.c_str()), 0);
  replace(old.path, bytes_of(other));
  assert_true(file_bytes(old.path) == bytes_of(other));
  assert_true(file_bytes(hard) == old.contents);  // another name of the old file
  replace(soft, bytes_of(other));
  assert_true(std::filesystem::is_regular_file(std::filesystem::symlink_status(soft)));
  assert_true(file_bytes(hard) == old.contents);  // what the link pointed to
  assert_int_equal(old.folder.entry_count(), 3);
}

/// A process that was killed holds no lock; one that lives does.
void test_temporary_files_of_others(void**) {
  const OldFile old;
  const std::string dead = old.folder.file(".bdl-0.tmp"), living = old.folder.file(".bdl-1.tmp"),
                    late = old.folder.file(".bdl-15.tmp"), foreign = old.folder.file(".bdl-x.tmp"),
                    link = old.folder.file(".bdl-2.tmp"), pipe = old.folder.file(".bdl-3.tmp");
  for (const std::string& name : {dead, living, late, foreign}) put_file(name, old.contents);
  assert_int_equal(::symlink(foreign.c_str(), link.c_str()), 0);
  assert_int_equal(::mkfifo(pipe.c_str(), 0600), 0);
  const FileDescriptor other(::open(living.c_str(), O_RDONLY | O_CLOEXEC));
  assert_int_equal(::flock(other.number(), LOCK_EX), 0);
  replace(old.path, old.contents);
  for (const std::string& name : {dead, late}) assert_false(std::filesystem::exists(name));
  for (const std::string& name : {living, foreign, link}) assert_true(file_bytes(name) == old.contents);
  old.expect_untouched(5);
}

/// More files than names that are always inspected, all of a job that was killed.
void test_many_temporary_files(void**) {
  const OldFile old;
  for (int k = 0; k < 40; ++k) put_file(old.folder.file(".bdl-") + std::to_string(k) + ".tmp", {});
  replace(old.path, old.contents);
  old.expect_untouched();
}

/// Files that have names from the start, at the same time: each gets its own.
void test_simultaneous_replacements(void**) {
  const OldFile old;
  {
    FileReplacement first(old.path, old.folder.path(), 0600, true),
        second(old.path, old.folder.path(), 0600, true);
    first.write(Bytes(10, std::byte{1}));
    second.write(Bytes(10, std::byte{2}));
    replace(old.folder.file("third"), old.contents);  // and removes neither
    assert_true(second.commit());
    assert_true(first.commit());
  }
  assert_true(file_bytes(old.path) == Bytes(10, std::byte{1}));
  assert_int_equal(old.folder.entry_count(), 2);
}

void test_invalid_tensors_touch_no_file(void**) {
  const OldFile old;
  const std::array twice{many_tensors[0], many_tensors[0]};
  expect_error("duplicate", Status::ERROR_INVALID_ARGUMENT, "duplicate key",
               [&] { write_archive(old.path.c_str(), {}, twice); });
  old.expect_untouched();
}

}  // namespace

int test_files() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_unreadable_paths),
      cmocka_unit_test(test_unreadable_file),
      cmocka_unit_test(test_truncated_files),
      cmocka_unit_test(test_huge_sparse_file),
      cmocka_unit_test(test_file_that_shrinks),
      cmocka_unit_test(test_replaces_the_old_file),
      cmocka_unit_test(test_writes_relative_paths),
      cmocka_unit_test(test_unwritable_paths),
      cmocka_unit_test(test_a_device_is_not_replaced),
      cmocka_unit_test(test_missing_permission),
      cmocka_unit_test(test_limit_of_file_size),
      cmocka_unit_test(test_failing_rename),
      cmocka_unit_test(test_abandoned_replacement),
      cmocka_unit_test(test_permissions),
      cmocka_unit_test(test_links),
      cmocka_unit_test(test_temporary_files_of_others),
      cmocka_unit_test(test_many_temporary_files),
      cmocka_unit_test(test_simultaneous_replacements),
      cmocka_unit_test(test_invalid_tensors_touch_no_file),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
