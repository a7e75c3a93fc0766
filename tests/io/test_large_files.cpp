// Files larger than memory are refused by their sizes, before anything is allocated or read.
#include <sys/resource.h>
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "io/file.hpp"
#include "io_test.hpp"

// A sanitizer's shadow memory exceeds every limit of the address space.
#if defined(__SANITIZE_ADDRESS__)
#define BDL_SHADOW_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BDL_SHADOW_MEMORY
#endif
#endif

namespace {

using namespace bdl;
using namespace bdl::testing;

/// A file whose header is right and whose tensor is a hole: it takes no room on the disk.
class SparseFile {
 public:
  SparseFile(const std::string& metadata, std::uint64_t size) {
    const std::string count = std::to_string(size);
    const std::string header = "{" + metadata + "\"a\":{\"dtype\":\"U8\",\"shape\":[" + count +
                               "],\"data_offsets\":[0," + count + "]}}";
    put_file(path_, archive_with_header(header, 0));
    assert_int_equal(::truncate(path_.c_str(), static_cast<off_t>(8 + header.size() + size)), 0);
  }
  const char* path() const { return path_.c_str(); }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("sparse.safetensors");
};

const std::string checkpoint =
    R"("__metadata__":{"format":"libbdl-checkpoint","format_version":"1","scalar":"f64"},)";

long peak_kilobytes() {
  rusage use;
  assert_int_equal(::getrusage(RUSAGE_SELF, &use), 0);
  return use.ru_maxrss;
}

/// Twice the data must fit, as what is made of them takes as much again: files of 6/10 of all memory, of all
/// of it, and of 1 TiB.
void test_larger_than_memory(void**) {
  const auto memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t swap = 0;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);)
    if (line.starts_with("SwapTotal:")) swap = 1024 * std::stoull(line.substr(10));
  const long before = peak_kilobytes();
  for (const std::uint64_t size : {(memory + swap) / 10 * 6, memory + swap, std::uint64_t{1} << 40}) {
    const SparseFile file(checkpoint, size);
    expect_error("memory", Status::ERROR_OUT_OF_MEMORY,
                 "out of memory: ", [&] { read_checkpoint(file.path()); });
    expect_error("path", Status::ERROR_OUT_OF_MEMORY, file.path(), [&] { read_checkpoint(file.path()); });
  }
  assert_true(peak_kilobytes() - before < 16 << 10);
}

/// Another program's weights are refused by their header, however many gigabytes follow.
void test_not_a_checkpoint(void**) {
  const SparseFile file("", std::uint64_t{1} << 40);
  const long before = peak_kilobytes();
  expect_error("foreign", Status::ERROR_FORMAT, "not a checkpoint of libbdl",
               [&] { read_checkpoint(file.path()); });
  assert_true(peak_kilobytes() - before < 16 << 10);
}

/// The header tells what a checkpoint holds.
void test_contents_without_tensors(void**) {
  const SparseFile file(checkpoint, std::uint64_t{1} << 40);
  assert_false(checkpoint_contents(file.path()).model);
}

#ifndef BDL_SHADOW_MEMORY
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void test_limit_of_address_space(void**) {
  const SparseFile file(checkpoint, 256 << 20);
  rlimit previous;
  assert_int_equal(::getrlimit(RLIMIT_AS, &previous), 0);
  const rlimit small{address_space() + (64 << 20), previous.rlim_max};
  assert_int_equal(::setrlimit(RLIMIT_AS, &small), 0);
  expect_error("limit", Status::ERROR_OUT_OF_MEMORY, "out of memory: the tensors have 268435456 bytes",
               [&] { read_checkpoint(file.path()); });
  assert_int_equal(::setrlimit(RLIMIT_AS, &previous), 0);
}
#endif

void test_what_fits_is_not_refused(void**) {
  require_memory(0);
  require_memory(64 << 20);
}

}  // namespace

int test_large_files() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_larger_than_memory),       cmocka_unit_test(test_not_a_checkpoint),
      cmocka_unit_test(test_contents_without_tensors),
#ifndef BDL_SHADOW_MEMORY
      cmocka_unit_test(test_limit_of_address_space),
#endif
      cmocka_unit_test(test_what_fits_is_not_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
