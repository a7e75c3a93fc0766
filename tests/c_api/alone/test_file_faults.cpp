// Every system call of a save and of a load fails once, in every way: the call succeeds all the same or is
// BDL_ERROR_FILE with path and reason; the file is the old or the new one, whole; nothing is left behind.
#include <cerrno>
#include <csignal>

#include "c_api/saved_beliefs.hpp"
#include "c_api/system_calls.hpp"

namespace {

using namespace saved;
using system_calls::Fault;

int open_files() {
  int count = 0;
  for (int file = 0; file < 256; ++file) count += ::syscall(SYS_fcntl, file, F_GETFD, 0) != -1 ? 1 : 0;
  return count;
}

std::vector<int> blocked_signals() {
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  std::vector<int> blocked;
  for (int signal = 1; signal < SIGRTMAX; ++signal)
    if (sigismember(&mask, signal) == 1) blocked.push_back(signal);
  return blocked;
}

/// Errors that such a call may give; `half`: not even an error.
std::vector<int> errors_of(int kind) {
  switch (kind) {
    case system_calls::WRITE:
      return {EIO, ENOSPC, EDQUOT, EINTR, system_calls::half};
    case system_calls::READ:
      return {EIO, EINTR, system_calls::half};
    case system_calls::OPEN:
      return {EIO, ENOSPC, EMFILE, EINTR};
    case system_calls::LINK:
      return {EIO, ENOSPC, EXDEV, EPERM};
    case system_calls::RENAME:
      return {EIO, ENOSPC, EACCES};
    case system_calls::FSYNC:
    case system_calls::CLOSE:
      return {EIO, ENOSPC, EINTR};
    case system_calls::LOCK:
      return {EINTR, ENOLCK};
    default:
      return {EIO};
  }
}

/// These are not failures: the call is repeated or goes on.
bool must_succeed(const Fault& fault) {
  return fault.error == EINTR || fault.error == system_calls::half;
}

struct Tally {
  long faults = 0, errors = 0;
};

class Saves {
 public:
  explicit Saves(bool replaces) : replaces_(replaces) { restore(); }

  /// Until the fault is not reached any more.
  void fail_each(int kind, int error, bool later) {
    for (long nth = 1;; ++nth) {
      assert_true(nth < 1000);
      if (!save({kind, nth, later, error})) return;
    }
  }
  const Tally& tally() const { return tally_; }

 private:
  void restore() const {
    folder_.clear();
    if (replaces_) OK(bdl_save(path_.c_str(), nullptr, old_.q.get(), nullptr));
  }

  bool save(const Fault& fault) {
    const int before = open_files();
    const std::vector<int> blocked = blocked_signals();
    system_calls::arm(fault);
    const bdl_status status = bdl_save(path_.c_str(), nullptr, new_.q.get(), nullptr);
    system_calls::disarm();
    const std::string what = bdl_last_error();
    assert_int_equal(open_files(), before);
    assert_true(blocked_signals() == blocked);
    if (system_calls::failed == 0) OK(status);
    check(fault, status, what);
    tally_.faults += system_calls::failed > 0;
    tally_.errors += status != BDL_OK;
    return system_calls::failed > 0;
  }

  void check(const Fault& fault, bdl_status status, const std::string& what) {
    const char* const name = fault.kind == system_calls::KINDS ? "any" : system_calls::names[fault.kind];
    if (status == BDL_OK) {
      if (loaded(path_) != new_.bytes) fail_msg("%s %ld: not the new file", name, fault.nth);
    } else {
      if (must_succeed(fault)) fail_msg("%s %ld, error %d: %s", name, fault.nth, fault.error, what.c_str());
      if (status != BDL_ERROR_FILE || what.find(path_) == what.npos ||
          what.find(strerror(fault.error)) == what.npos)
        fail_msg("%s %ld, error %d: %s", name, fault.nth, fault.error, what.c_str());
      if (loaded(path_) != (replaces_ ? old_.bytes : ""))
        fail_msg("%s %ld: not the old file", name, fault.nth);
    }
    const int expected = status == BDL_OK || replaces_ ? 1 : 0;
    if (folder_.entries() != expected) {
      // Where removing fails too, the next save removes.
      if (!fault.later) fail_msg("%s %ld: %d files", name, fault.nth, folder_.entries());
      OK(bdl_save(path_.c_str(), nullptr, new_.q.get(), nullptr));
      if (!system_calls::lacks.locks) assert_int_equal(folder_.entries(), 1);
    }
    if (status == BDL_OK || folder_.entries() != expected || fault.later) restore();
  }

  bool replaces_;
  Folder folder_;
  const std::string path_ = folder_.file("belief.safetensors");
  const Belief old_{1}, new_{2};
  Tally tally_;
};

void every_fault_of_a_save(void**) {
  const system_calls::Lacks systems[] = {
      {}, {.nameless = true}, {.links = true}, {.locks = true}, {.nameless = true, .locks = true}};
  Tally all;
  for (const system_calls::Lacks& system : systems)
    for (const bool replaces : {false, true}) {
      system_calls::lacks = system;
      Saves saves(replaces);
      for (int kind = 0; kind < system_calls::KINDS; ++kind)
        for (const int error : errors_of(kind)) saves.fail_each(kind, error, false);
      for (const int error : {EIO, ENOSPC}) saves.fail_each(system_calls::KINDS, error, true);
      all.faults += saves.tally().faults;
      all.errors += saves.tally().errors;
    }
  system_calls::lacks = {};
  print_message("%ld faults, %ld errors reported\n", all.faults, all.errors);
  assert_true(all.faults > 500 && all.errors > 100);
}

/// The calls that a save makes go through the functions that are replaced here.
void every_kind_is_seen(void**) {
  const Folder folder;
  const Belief q(1);
  system_calls::arm({});
  OK(bdl_save(folder.file("a").c_str(), nullptr, q.q.get(), nullptr));  // linked to its name
  OK(bdl_save(folder.file("a").c_str(), nullptr, q.q.get(), nullptr));  // linked and renamed
  assert_int_equal(loaded(folder.file("a")).size(), q.bytes.size());
  system_calls::disarm();
  for (int kind = 0; kind < system_calls::UNLINK; ++kind)
    if (system_calls::calls[kind] == 0) fail_msg("no %s", system_calls::names[kind]);
}

void every_fault_of_a_load(void**) {
  const Folder folder;
  const Belief belief(1);
  const std::string path = folder.file("belief.safetensors");
  OK(bdl_save(path.c_str(), nullptr, belief.q.get(), nullptr));
  for (int kind = 0; kind < system_calls::KINDS; ++kind)
    for (const int error : errors_of(kind))
      for (long nth = 1;; ++nth) {
        bdl_posterior* q = nullptr;
        const int before = open_files();
        system_calls::arm({kind, nth, false, error});
        const bdl_status status = bdl_load(path.c_str(), nullptr, nullptr, &q, nullptr);
        system_calls::disarm();
        const Posterior owner(q);
        assert_int_equal(open_files(), before);
        if (status == BDL_OK) {
          assert_true(bytes_of(q) == belief.bytes);
        } else {
          assert_false(must_succeed(system_calls::fault));
          assert_int_equal(status, BDL_ERROR_FILE);
          assert_null(q);
          assert_non_null(strstr(bdl_last_error(), path.c_str()));
          assert_non_null(strstr(bdl_last_error(), strerror(error)));
        }
        if (system_calls::failed == 0) break;
      }
}

}  // namespace

int test_file_faults() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_seen),
      cmocka_unit_test(every_fault_of_a_save),
      cmocka_unit_test(every_fault_of_a_load),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
