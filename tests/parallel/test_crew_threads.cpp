// Long tasks on several threads: each is done once, the caller is asked while it waits, and where the system
// gives no threads its own does everything.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "parallel/crew.hpp"
#include "parallel/parallel.hpp"
#include "support/verify.hpp"

using namespace bdl;

namespace {

void every_task_is_done_once(void**) {
  for (const Index workers : {1, 2, 5, 40})
    for (const Index count : {0, 1, 3, 30}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      const std::thread::id caller = std::this_thread::get_id();
      int asked = 0, elsewhere = 0;
      std::atomic<int> threads_within{0};
      share_tasks(
          count, workers,
          [&](Index i) {
            ++done[static_cast<std::size_t>(i)];
            if (workers > 1 && count > 1) threads_within += thread_count() - 1;
          },
          [&] {
            ++asked;
            elsewhere += std::this_thread::get_id() != caller;
          });
      for (const auto& times : done) assert_int_equal(times, 1);
      assert_int_equal(elsewhere, 0);
      assert_int_equal(threads_within, 0);  // loops of a task are on its own thread
      if (workers == 1) assert_int_equal(asked, count);
    }
}

/// The task on the other thread ends only when the caller, which has nothing else to do, has been asked.
void the_caller_is_asked_while_it_waits(void**) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> is_told{false}, has_begun{false};
  share_tasks(
      2, 2,
      [&](Index) {
        if (std::this_thread::get_id() == caller) {
          while (!has_begun) std::this_thread::yield();
          return;
        }
        has_begun = true;
        while (!is_told) std::this_thread::yield();
      },
      [&] { is_told = true; });
  assert_true(is_told);
}

void limits_end_with_the_tasks(void**) {
  const int before = thread_count();
  share_tasks(
      4, 2, [](Index) {}, [] {});
  assert_int_equal(thread_count(), before);
}

}  // namespace

int test_crew_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(every_task_is_done_once),
      cmocka_unit_test(the_caller_is_asked_while_it_waits),
      cmocka_unit_test(limits_end_with_the_tasks),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
