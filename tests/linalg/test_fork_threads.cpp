// A host that forks while its other threads are inside BLAS and LAPACK: parent and child go on.
#include <sys/wait.h>
#include <unistd.h>

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

/// Products whose operands OpenBLAS copies into its buffers, a vector's system and a factorisation.
struct Work {
  Dense a, b, positive;
  explicit Work(std::uint64_t seed) : a(0, 0), b(0, 0), positive(0, 0) {
    Random random(seed);
    a = random.normal(60, 40), b = random.normal(60, 30);
    positive = a * transposed(a) + identity(60);
  }
  std::vector<double> run() const {
    Padded<double> c(Dense(40, 30)), factor(positive), x(b);
    gemm(Op::transpose, Op::none, 1.0, Padded<double>(a).get(), Padded<double>(b).get(), 0.0, c.view());
    cholesky(factor.view());
    for (Index j = 0; j < b.cols; ++j) solve_lower_left(Op::none, factor.get(), x.view().columns(j, 1));
    std::vector<double> all = x.dense().values;
    const std::vector<double> products = c.dense().values;
    all.insert(all.end(), products.begin(), products.end());
    return all;
  }
};

/// In the child, which must not wait for ever: the status of its exit.
int child_status(const Work& work, const std::vector<double>& expected) {
  alarm(20);
  return work.run() == expected ? 0 : 1;
}

void forks_wait_for_calls_of_blas(void**) {
  constexpr int forks = 300, threads = 3;
  const Work work(1);
  const std::vector<double> expected = work.run();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> others;
  for (int t = 0; t < threads; ++t)
    others.emplace_back([&] {
      while (!stop) wrong += work.run() != expected;
    });
  int failed = 0;
  for (int i = 0; i < forks && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(child_status(work, expected));
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
