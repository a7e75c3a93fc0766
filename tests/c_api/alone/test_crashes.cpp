// The power fails at any moment of a save: the disk has the old file or the new one, whole. A device that
// lies about flushing may have torn files; none of them loads.
#include <algorithm>
#include <fstream>

#include "c_api/crashed_disk.hpp"
#include "c_api/saved_beliefs.hpp"

namespace {

using namespace crashes;
using namespace saved;

struct Tally {
  long states = 0, old_files = 0, new_files = 0, missing = 0, refused = 0;
};

std::vector<Operation> recorded_save(const std::string& path, const Belief& belief) {
  std::vector<Operation> operations;
  system_calls::recorded = &operations;
  const bdl_status status = bdl_save(path.c_str(), nullptr, belief.q.get(), nullptr);
  system_calls::recorded = nullptr;
  OK(status);
  return operations;
}

/// Loads a file with these contents and returns the bytes that it saves to again; "" if it is refused.
std::string loaded_bytes(const std::string& contents) {
  bdl_posterior* q = nullptr;
  const bdl_status status =
      bdl_load_bytes(contents.data(), static_cast<int64_t>(contents.size()), nullptr, nullptr, &q, nullptr);
  if (status == BDL_OK) return bytes_of(Posterior(q).get());
  assert_int_equal(status, BDL_ERROR_FORMAT);
  return {};
}

class Crash {
 public:
  explicit Crash(bool replaces) : replaces_(replaces) {
    if (replaces) OK(bdl_save(path_.c_str(), nullptr, old_.q.get(), nullptr));
    operations_ = recorded_save(path_, new_);
  }

  /// After any number of calls.
  Tally everywhere(bool flushes_work) {
    tally_ = {};
    for (std::size_t count = 0; count <= operations_.size(); ++count) {
      const Disk disk(operations_, count, folder_.path(), flushes_work);
      const bool is_torn = std::ranges::count(disk.flushed, false) > 0;
      for (unsigned steps = 0; steps < 1U << disk.steps.size(); ++steps)
        for (const auto& sectors : is_torn ? arrivals(disk.flushed.size()) : arrivals(0))
          look(disk.file(path_, replaces_ ? old_.bytes : "", steps, sectors));
    }
    return tally_;
  }
  std::size_t calls() const { return operations_.size(); }

 private:
  void look(const std::optional<std::string>& file) {
    ++tally_.states;
    if (!file) {
      assert_false(replaces_);
      ++tally_.missing;
      return;
    }
    const std::string bytes = loaded_bytes(*file);
    if (bytes.empty())
      ++tally_.refused;
    else if (bytes == new_.bytes)
      ++tally_.new_files;
    else if (replaces_ && bytes == old_.bytes)
      ++tally_.old_files;
    else
      fail_msg("neither the old nor the new file was loaded");
  }

  bool replaces_;
  Folder folder_;
  const std::string path_ = folder_.file("belief.safetensors");
  const Belief old_{1}, new_{2};
  std::vector<Operation> operations_;
  Tally tally_;
};

void print(const char* device, const Crash& crash, const Tally& tally) {
  print_message(
      "%s: %zu calls, %ld states of the disk: %ld old, %ld new, %ld without a file, %ld torn and refused\n",
      device, crash.calls(), tally.states, tally.old_files, tally.new_files, tally.missing, tally.refused);
}

void test_power_cuts(void**) {
  for (const bool nameless : {true, false})
    for (const bool replaces : {true, false}) {
      system_calls::lacks.nameless = !nameless;
      Crash crash(replaces);
      const Tally sound = crash.everywhere(true);
      print("flushes work", crash, sound);
      assert_int_equal(sound.refused, 0);
      assert_true(sound.new_files > 0 && (replaces ? sound.old_files : sound.missing) > 0);
      const Tally lying = crash.everywhere(false);
      print("flushes lie", crash, lying);
      assert_true(lying.refused > 100);
    }
  system_calls::lacks = {};
}

/// Sectors of the old file in place of those of the new one, which has the same size: what only checksums can
/// tell.
void test_mixtures_of_two_files(void**) {
  const Belief one(1), two(2);
  assert_int_equal(one.bytes.size(), two.bytes.size());
  const std::size_t count = (one.bytes.size() + sector - 1) / sector;
  long refused = 0;
  for (const auto& from_two : arrivals(count)) {
    std::string mixed = one.bytes;
    for (std::size_t s = 0; s < count; ++s)
      if (from_two[s]) mixed.replace(s * sector, sector, two.bytes, s * sector, sector);
    if (mixed == one.bytes || mixed == two.bytes) continue;
    assert_string_equal(loaded_bytes(mixed).c_str(), "");
    assert_non_null(strstr(bdl_last_error(), "is damaged: its checksum is "));
    ++refused;
  }
  assert_true(refused > 100);
}

}  // namespace

int test_crashes() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_power_cuts),
                              cmocka_unit_test(test_mixtures_of_two_files)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
