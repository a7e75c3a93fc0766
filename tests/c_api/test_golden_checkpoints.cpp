// Files that earlier versions have written load, and give the numbers that they gave then
// (tests/golden/checkpoints/README.md).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "checkpoints/values.hpp"
#include "fuzz/load_any.hpp"
#include "handles.hpp"
#include "support/sanitized.hpp"

namespace {

namespace fs = std::filesystem;

struct Loaded {
  Model model;
  Posterior posterior;
  Optimizer optimizer;
};

Loaded load(const std::string& path) {
  int32_t is_user = 0, has_optimizer = 0;
  OK(bdl_checkpoint_parts(path.c_str(), nullptr, &is_user, nullptr, &has_optimizer));
  bdl_model *user = nullptr, *model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  if (is_user) OK(checkpoints::create_user_model(&user));
  const Model owner(user);
  OK(bdl_load(path.c_str(), user, &model, &posterior, has_optimizer ? &optimizer : nullptr));
  return {Model(model), Posterior(posterior), Optimizer(optimizer)};
}

checkpoints::Quantities stored_in(const fs::path& path) {
  std::ifstream file(path);
  assert_true(file.is_open());
  checkpoints::Quantities all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    checkpoints::Quantity quantity;
    words >> quantity.key;
    for (double number; words >> number;) quantity.numbers.push_back(number);
    all.push_back(quantity);
  }
  return all;
}

/// To the rounding of another machine's BLAS, which some steps of training enlarge.
double tolerance_for(const Loaded& loaded, const std::string& key) {
  const double rounding = bdl_model_dtype(loaded.model.get()) == BDL_F64 ? 1e-11 : 1e-5;
  return key.starts_with("later") ? 100 * rounding : rounding;
}

void compare(const checkpoints::Quantity& got, const checkpoints::Quantity& expected, double tolerance) {
  if (got.key != expected.key || got.numbers.size() != expected.numbers.size())
    fail_msg("got %zu numbers of %s, expected %zu of %s", got.numbers.size(), got.key.c_str(),
             expected.numbers.size(), expected.key.c_str());
  double scale = 0;
  for (const double number : expected.numbers) scale = std::max(scale, std::fabs(number));
  for (std::size_t i = 0; i < got.numbers.size(); ++i)
    assert_close(got.numbers[i], expected.numbers[i], tolerance * scale, expected.key.c_str());
}

void check(const fs::path& path) {
  print_message("%s\n", path.c_str());
  const Loaded loaded = load(path.string());
  checkpoints::Quantities got = checkpoints::quantities_of(loaded.model.get(), loaded.posterior.get());
  if (loaded.optimizer)
    checkpoints::add_course(got, loaded.model.get(), loaded.posterior.get(), loaded.optimizer.get());
  const checkpoints::Quantities expected = stored_in(fs::path(path).replace_extension(".txt"));
  assert_int_equal(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    compare(got[k], expected[k], tolerance_for(loaded, expected[k].key));
}

std::vector<fs::path> golden_files() {
  const char* const source = std::getenv("BDL_SOURCE_DIR");
  assert_non_null(source);
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(source) / "tests/golden/checkpoints"))
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  assert_true(paths.size() >= 24);
  return paths;
}

void old_files_give_the_numbers_that_they_gave(void**) {
  for (const fs::path& path : golden_files()) check(path);
}

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A file without checksums, with one more entry in its metadata.
std::string with_entry(const std::string& file, const std::string& entry) {
  constexpr std::size_t length_bytes = 8;
  uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  const std::size_t at = file.find("\"option.");
  assert_true(at < length);
  std::string changed = file;
  changed.insert(at, entry + ",");
  length += entry.size() + 1;
  std::memcpy(changed.data(), &length, length_bytes);
  return changed;
}

bdl_status load_with_entry(const std::string& file, const std::string& entry) {
  const std::string changed = with_entry(file, entry);
  bdl_optimizer* optimizer = nullptr;
  const bdl_status status = bdl_load_bytes(changed.data(), static_cast<int64_t>(changed.size()), nullptr,
                                           nullptr, nullptr, &optimizer);
  assert_true((status == BDL_OK) == (optimizer != nullptr));
  bdl_optimizer_free(optimizer);
  return status;
}

/// Option "exchange" was in files of 0.2 and is no more.
void files_with_deleted_options_load_at_the_default(void**) {
  const std::string file = contents_of(fs::path(std::getenv("BDL_SOURCE_DIR")) /
                                       "tests/golden/checkpoints/0.2/optimizer-slang.safetensors");
  OK(load_with_entry(file, "\"option.exchange\":\"automatic\""));
  OK(load_with_entry(file, "\"option.exchange\":\"rows\""));
  assert_int_equal(load_with_entry(file, "\"option.exchange\":\"sums\""), BDL_ERROR_FORMAT);
  assert_non_null(
      std::strstr(bdl_last_error(), "option \"exchange\" is \"sums\", but this version has no such"));
  assert_non_null(std::strstr(bdl_last_error(), "set the option to \"automatic\" and save it again"));
}

/// Files with one bit changed, and files cut short, pass the checks of the fuzz target.
void damaged_files_load_or_are_refused(void**) {
  for (const fs::path& path : golden_files()) {
    const std::string whole = contents_of(path);
    for (std::size_t at = path.string().size() % 17; at < whole.size();
         at += 17 * bdl::testing::sanitized_stride) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      if (!fuzz::load_is_right(damaged.data(), static_cast<int64_t>(damaged.size())) ||
          !fuzz::load_is_right(whole.data(), static_cast<int64_t>(at)))
        fail_msg("%s, byte %zu: %s", path.c_str(), at, bdl_last_error());
    }
  }
}

}  // namespace

int test_golden_checkpoints() {
  const CMUnitTest tests[] = {cmocka_unit_test(old_files_give_the_numbers_that_they_gave),
                              cmocka_unit_test(files_with_deleted_options_load_at_the_default),
                              cmocka_unit_test(damaged_files_load_or_are_refused)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
