// A host that forks while its other threads are inside BLAS and LAPACK: parent and child go on.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "parallel/fork_gate.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Products whose operands OpenBLAS copies into its buffers, systems of single vectors and a factorisation.
/// Each thread has its own, and allocates nothing: a sanitizer's allocator may be locked over a fork.
class Work {
 public:
  Work() : lower_(rows * rows), x_(rows * columns), c_(inner * columns) {
    Random random(1);
    const Dense a = random.normal(rows, inner), b = random.normal(rows, columns);
    const Dense positive = a * transposed(a) + identity(rows);
    a_ = a.values, b_ = b.values, positive_ = positive.values;
  }
  void run() {
    const MatrixView<double> lower{lower_.data(), rows, rows}, x{x_.data(), rows, columns};
    std::ranges::copy(positive_, lower_.begin());
    std::ranges::copy(b_, x_.begin());
    gemm(Op::transpose, Op::none, 1.0, {a_.data(), rows, inner}, x, 0.0, {c_.data(), inner, columns});
    cholesky(lower);
    for (Index j = 0; j < columns; ++j) solve_lower_left(Op::none, lower, x.columns(j, 1));
  }
  bool has_results_of(const Work& other) const { return x_ == other.x_ && c_ == other.c_; }

 private:
  static constexpr Index rows = 60, inner = 40, columns = 30;
  std::vector<double> a_, b_, positive_, lower_, x_, c_;
};

/// In the child, which must not wait for ever: the status of its exit.
int child_status(Work& work, const Work& expected) {
  alarm(20);
  work.run();
  return work.has_results_of(expected) ? 0 : 1;
}

void forks_wait_for_calls_of_blas(void**) {
  constexpr int forks = 300;
  Work expected, of_child;
  expected.run();
  std::array<Work, 3> works;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> others;
  for (Work& work : works)
    others.emplace_back([&] {
      while (!stop) {
        work.run();
        wrong += !work.has_results_of(expected);
      }
    });
  int failed = 0;
  for (int i = 0; i < forks && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(child_status(of_child, expected));
    int status = 0;
    failed += child < 0 || waitpid(child, &status, 0) != child || status != 0;
  }
  stop = true;
  for (std::thread& other : others) other.join();
  assert_int_equal(failed, 0);
  assert_int_equal(wrong.load(), 0);
}

/// As the handler of a signal does that forks within a call of its own thread.
void a_thread_within_a_call_may_fork(void**) {
  const ForkGate::Pass outer;
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const ForkGate::Pass inner;
    _exit(0);
  }
  int status = 1;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  const ForkGate::Pass inner;
}

}  // namespace

int test_fork_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(forks_wait_for_calls_of_blas),
                              cmocka_unit_test(a_thread_within_a_call_may_fork)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
