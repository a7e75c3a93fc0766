// The n-th thread that the library asks for is refused, and all after it: training and predictions give the
// results that they give with all threads. Each n is a process of its own, as the library asks only once.
// This program's pthread_create stands in front of the C library's. BLAS has one thread here
// (OPENBLAS_NUM_THREADS=1, as CTest sets it): its own would be counted too.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "c_api/training_starts.hpp"

namespace {

std::atomic<int> asked{0}, granted{1000};

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create own = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return asked++ < granted ? own(thread, attributes, start, argument) : EAGAIN;
}

namespace {

constexpr int threads = 4;
constexpr int64_t rows = 400, inputs = 30;

/// Trains on four threads. Returns a hash of the checkpoint, and writes how many threads were asked for.
std::uint64_t train(int* requests) {
  fuzz::Parts parts;
  std::vector<double> x, y;
  for (int64_t i = 0; i < rows * inputs; ++i) x.push_back(std::sin(0.37 * static_cast<double>(i)));
  for (int64_t i = 0; i < rows; ++i) y.push_back(std::cos(0.11 * static_cast<double>(i)));
  OK(bdl_model_create_network(BDL_F64, "input 30; dense 60; relu; dense 1", BDL_GAUSSIAN, &parts.model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(parts.model), 4, &parts.posterior));
  OK(bdl_optimizer_create(parts.model, parts.posterior, "slang-ggn", rows, &parts.optimizer));
  OK(bdl_optimizer_set_int(parts.optimizer, "threads", threads));
  OK(bdl_optimizer_set_int(parts.optimizer, "minibatch", rows));  // so large that loops are shared
  OK(bdl_optimizer_fit(parts.optimizer, bdl_f64(x.data(), rows, inputs), bdl_f64(y.data(), rows, 1), 2,
                       nullptr, nullptr));
  *requests = asked;
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : fuzz::saved(parts))
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash;
}

struct Answer {
  std::uint64_t hash = 0;
  int requests = 0;
};

Answer train_with(int workers) {
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    granted = workers;
    asked = 0;
    Answer answer;
    answer.hash = train(&answer.requests);
    _exit(write(pipes[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
  }
  close(pipes[1]);
  Answer answer;
  assert_int_equal(read(pipes[0], &answer, sizeof answer), sizeof answer);
  close(pipes[0]);
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  return answer;
}

void test_training(void**) {
  const Answer all = train_with(1000);
  assert_int_equal(all.requests, threads - 1);
  for (int workers = 0; workers < threads - 1; ++workers) {
    const Answer some = train_with(workers);
    assert_int_equal(some.requests, workers + 1);
    assert_true(some.hash == all.hash);
  }
}

}  // namespace

int test_refused_workers() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_training)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
