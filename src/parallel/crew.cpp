#include "parallel/crew.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/float_environment.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr std::chrono::milliseconds pause{20};

/// Delays the cancellation of this thread (pthread_cancel): while other threads work for it, cancellation
/// would end the process.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = 0;
};

class Crew {
 public:
  Crew(Index count, FunctionRef<void(Index)> task) : count_(count), task_(task) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    for (std::thread& thread : threads_) thread.join();
  }

  /// Starts this many threads, or fewer if the system refuses some. They block all signals, which go to the
  /// host's threads.
  void start(Index others) {
    threads_.reserve(static_cast<std::size_t>(others));
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      while (std::ssize(threads_) < others) threads_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {  // this thread takes the tasks that no other takes
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void work(FunctionRef<void()> between) {
    for (Index i; (i = next_.fetch_add(1)) < count_;) task_(i), between();
    std::unique_lock lock(mutex_);
    while (ended_ < std::ssize(threads_)) {
      changed_.wait_for(lock, pause);
      lock.unlock();
      between();
      lock.lock();
    }
  }

 private:
  void serve() noexcept {
    const DefaultFloats floats;
    const ThreadLimit alone(1);
    for (Index i; (i = next_.fetch_add(1)) < count_;) {
      task_(i);
      changed_.notify_one();
    }
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_one();
  }

  Index count_;
  FunctionRef<void(Index)> task_;
  std::atomic<Index> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  Index ended_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

void share_tasks(Index count, Index workers, FunctionRef<void(Index)> task, FunctionRef<void()> between) {
  const Index others = std::min(count, workers) - 1;
  const NoCancellation whole;
  Crew crew(count, task);
  if (others <= 0) return crew.work(between);
  const ThreadLimit alone(1);
  crew.start(others);
  crew.work(between);
}

}  // namespace bdl
