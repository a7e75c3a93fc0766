// Loops over tasks: each is done once, whatever the threads do; callers at the same time, nested loops,
// forks.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "parallel/parallel.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;

void every_task_runs_once(void**) {
  for (const Index threads : {1, 2, 3, 8})
    for (const Index count : {0, 1, 2, 3, 7, 64, 1000}) {
      const ThreadLimit limit(threads);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      parallel_for(count, [&](Index i) noexcept { ++runs[static_cast<std::size_t>(i)]; });
      for (const auto& run : runs) assert_int_equal(run.load(), 1);
    }
}

void blocks_cover_the_range(void**) {
  for (const Index size : {0, 1, 9, 10, 11, 35})
    for (const Index grain : {1, 5, 10, 100}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(size));
      parallel_blocks(size, grain, [&](Index first, Index count) noexcept {
        for (Index i = first; i < first + count; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (const auto& times : seen) assert_int_equal(times.load(), 1);
    }
}

/// Each loop reads what the one before it has written.
void loops_follow_each_other(void**) {
  const ThreadLimit threads(3);
  std::vector<Index> values(257, 0);
  for (Index round = 0; round < 2000; ++round)
    parallel_for(257, [&](Index i) noexcept { values[static_cast<std::size_t>(i)] += i + round; });
  for (Index i = 0; i < 257; ++i)
    assert_int_equal(values[static_cast<std::size_t>(i)], 2000 * i + 1999 * 1000);
}

void nested_loops_run_alone(void**) {
  const ThreadLimit threads(3);
  std::atomic<Index> sum{0};
  parallel_for(8, [&](Index i) noexcept { parallel_for(8, [&, i](Index j) noexcept { sum += 8 * i + j; }); });
  assert_int_equal(sum.load(), 63 * 32);
}

void callers_at_the_same_time(void**) {
  std::atomic<Index> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      const ThreadLimit three(3);
      for (int round = 0; round < 500; ++round) parallel_for(16, [&](Index i) noexcept { sum += i; });
    });
  for (std::thread& caller : callers) caller.join();
  assert_int_equal(sum.load(), 4 * 500 * 120);
}

/// The child has none of its parent's threads.
void a_forked_child_goes_on(void**) {
  const ThreadLimit threads(3);
  parallel_for(8, [](Index) noexcept {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<Index> sum{0};
    for (int round = 0; round < 10; ++round) parallel_for(8, [&](Index i) noexcept { sum += i; });
    _exit(sum.load() == 280 ? 0 : 1);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/// Destroyed after the library's threads, if a loop has started any: its loops then run on the calling one.
struct AtProcessEnd {
  ~AtProcessEnd() {
    const ThreadLimit threads(64);
    std::atomic<Index> sum{0};
    parallel_for(64, [&](Index i) noexcept { sum += i; });
    if (sum.load() != 2016) _exit(1);
  }
} at_process_end;

/// Two tasks that meet: one of them runs on another thread than the caller's.
void tasks_run_at_the_same_time(void**) {
  const ThreadLimit two(2);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  parallel_for(2, [&](Index) noexcept {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    if (arrived < 2) met = false;
  });
  assert_true(met);
}

void limits_nest(void**) {
  const int all = thread_count();
  assert_true(all >= 1);
  {
    const ThreadLimit one(1);
    assert_int_equal(thread_count(), 1);
    const ThreadLimit as_before(0);
    assert_int_equal(thread_count(), 1);
    const ThreadLimit three(3);
    assert_int_equal(thread_count(), 3);
  }
  assert_int_equal(thread_count(), all);
}

}  // namespace

int test_thread_loops() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(every_task_runs_once),       cmocka_unit_test(blocks_cover_the_range),
      cmocka_unit_test(loops_follow_each_other),    cmocka_unit_test(nested_loops_run_alone),
      cmocka_unit_test(callers_at_the_same_time),   cmocka_unit_test(a_forked_child_goes_on),
      cmocka_unit_test(tasks_run_at_the_same_time), cmocka_unit_test(limits_nest),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
