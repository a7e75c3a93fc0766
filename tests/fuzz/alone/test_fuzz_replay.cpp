// The fuzz targets on their stored inputs, and the API fuzzer on some that are drawn: what fuzzing found
// stays repaired.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "c_api/failing_allocator.hpp"
#include "fuzz/api/calls.hpp"
#include "fuzz/api/sequence.hpp"
#include "fuzz/describe_any.hpp"
#include "fuzz/load_any.hpp"
#include "fuzz/options_any.hpp"
#include "support/verify.hpp"

namespace {

using Input = std::vector<std::uint8_t>;

std::vector<std::filesystem::path> corpus(const char* target) {
  const char* source = std::getenv("BDL_SOURCE_DIR");
  assert_non_null(source);
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(source) / "tests/fuzz/corpus" / target))
    files.push_back(file.path());
  std::sort(files.begin(), files.end());
  assert_true(files.size() > 10);
  return files;
}

Input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  assert_true(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Where a sequence ends the process, its name is the last line.
template <class Check>
void replay(const char* target, Check check) {
  for (const auto& path : corpus(target)) {
    const Input input = read(path);
    if (!check(input)) fail_msg("%s", path.c_str());
  }
}

bool api(const Input& input) {
  fuzz::check_sequence(input.data(), input.size());
  return true;
}

void test_api(void**) {
  replay("api", api);
}

void test_checkpoints(void**) {
  replay("checkpoint", [](const Input& bytes) {
    return fuzz::load_is_right(bytes.data(), static_cast<std::int64_t>(bytes.size()));
  });
}

void test_descriptions(void**) {
  replay("description", [](const Input& text) {
    return fuzz::description_is_right({reinterpret_cast<const char*>(text.data()), text.size()});
  });
}

void test_options(void**) {
  replay("options", [](const Input& text) {
    return fuzz::options_are_right({reinterpret_cast<const char*>(text.data()), text.size()});
  });
}

/// The API fuzzer calls every function of the headers, and no other.
void test_coverage(void**) {
  std::size_t functions = 0;
#define PUBLIC(name)                                                                          \
  if (fuzz::index_of(#name) == fuzz::call_count()) fail_msg("%s is not in calls.def", #name); \
  ++functions;
#include "public.def"
#undef PUBLIC
  assert_int_equal(functions, fuzz::call_count());
}

/// As bdl_sequences 1 150 draws them.
void test_drawn_sequences(void**) {
  for (std::uint64_t i = 1; i <= 150; ++i) api(fuzz::drawn_sequence(i));
}

}  // namespace

int test_fuzz_replay() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_api),
                              cmocka_unit_test(test_checkpoints),
                              cmocka_unit_test(test_descriptions),
                              cmocka_unit_test(test_options),
                              cmocka_unit_test(test_drawn_sequences),
                              cmocka_unit_test(test_coverage)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
