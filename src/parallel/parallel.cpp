#include "parallel/parallel.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/float_environment.hpp"
#include "base/interrupt.hpp"
#include "parallel/blas_info.hpp"

namespace bdl {
namespace {

constexpr int most_threads = 256;
// Number of times that a waiting thread looks before it sleeps and leaves its processor to the host's
// threads.
constexpr int worker_spins = 2000, caller_spins = 20000;

thread_local int limit = 0;

inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits until the value differs from `old`: looks `spins` times, then sleeps.
template <class Value>
void wait_while(const std::atomic<Value>& value, Value old, int spins) noexcept {
  for (int i = 0; i < spins; ++i, relax())
    if (value.load(std::memory_order_acquire) != old) return;
  value.wait(old, std::memory_order_acquire);
}

/// The threads, which run one loop at a time. `ticket_` holds the loop's number in its upper half and the
/// number of tasks not yet taken in its lower half, so that a worker which comes late takes no task of a
/// later loop.
class Pool {
 public:
  static Pool& instance() noexcept {
    static Pool pool;
    return pool;
  }

  /// Runs a loop. Returns false, having done nothing, if another loop is running or the process is ending:
  /// the host's destructors may call the library after this class's own.
  bool run(Index count, int threads, void (*task)(void*, Index) noexcept, void* context) noexcept {
    if (stopping_.load(std::memory_order_relaxed)) return false;
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    start_workers(threads - 1);
    task_ = task;
    context_ = context;
    width_.store(threads - 1, std::memory_order_relaxed);
    left_.store(static_cast<int>(count), std::memory_order_relaxed);
    const std::uint64_t loop = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    ticket_.store(loop << 32 | static_cast<std::uint64_t>(count), std::memory_order_release);
    loop_.store(
        static_cast<std::uint32_t>(loop));  // sequentially consistent, so that notify_all misses no sleeper
    loop_.notify_all();
    work<true>(static_cast<std::uint32_t>(loop));
    for (int left; (left = left_.load(std::memory_order_acquire)) != 0;)
      wait_while(left_, left, caller_spins);
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  Pool() noexcept {
    started_ = this;
    pthread_atfork(nullptr, nullptr, [] {
      if (Pool* pool = started_) pool->forget_workers();
    });
  }
  ~Pool() {
    stopping_.store(true, std::memory_order_relaxed);
    loop_.fetch_add(1, std::memory_order_release);
    loop_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  /// Starts workers up to this number, or fewer if the system refuses some; asks again after 4096 more loops.
  /// Workers block all signals, which go to the host's threads.
  void start_workers(int wanted) noexcept {
    if (static_cast<int>(workers_.size()) >= wanted) return;
    if (loops_refused_ > 0 && ++loops_refused_ % 4096 != 0) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      while (static_cast<int>(workers_.size()) < wanted) {
        const int number = static_cast<int>(workers_.size());
        workers_.emplace_back([this, number] { serve(number); });
      }
      loops_refused_ = 0;
    } catch (const std::exception&) {
      loops_refused_ = 1;  // a loop needs no worker: the calling thread takes the tasks that no other takes
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void serve(int number) noexcept {
    const DefaultFloats floats;
    for (std::uint32_t seen = 0;;) {
      wait_while(loop_, seen, worker_spins);
      seen = loop_.load(std::memory_order_acquire);
      if (stopping_.load(std::memory_order_relaxed)) return;
      if (number < width_.load(std::memory_order_relaxed)) work<false>(seen);
    }
  }

  /// Takes tasks of this loop until none is left. Once the loop is to stop, its caller takes tasks without
  /// running them.
  template <bool is_caller>
  void work(std::uint32_t loop) noexcept {
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(ticket >> 32) == loop && static_cast<std::uint32_t>(ticket) != 0) {
      if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acquire)) continue;
      if (!is_caller || !loop_is_stopped())
        task_(context_, static_cast<Index>(static_cast<std::uint32_t>(ticket)) - 1);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
      ticket = ticket_.load(std::memory_order_acquire);
    }
  }

  /// Called in a forked child, which has no workers: their handles are overwritten without joining them.
  void forget_workers() noexcept {
    new (&workers_) std::vector<std::thread>();
    loops_refused_ = 0;
    loop_.store(0, std::memory_order_relaxed);
    ticket_.store(0, std::memory_order_relaxed);
    left_.store(0, std::memory_order_relaxed);
    busy_.store(false, std::memory_order_relaxed);
  }

  static inline std::atomic<Pool*> started_{nullptr};
  std::vector<std::thread> workers_;
  unsigned loops_refused_ = 0;
  void (*task_)(void*, Index) noexcept = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> busy_{false}, stopping_{false};
  std::atomic<int> width_{0};
  std::atomic<int> left_{0};
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint32_t> loop_{0};
};

}  // namespace

int thread_count() noexcept {
  return limit > 0 ? limit : std::min(blas_threads(), most_threads);
}

ThreadLimit::ThreadLimit(Index threads) noexcept : outer_(limit) {
  if (threads > 0) limit = static_cast<int>(std::min<Index>(threads, most_threads));
}

ThreadLimit::~ThreadLimit() {
  limit = outer_;
}

void run_tasks(Index count, void (*task)(void*, Index) noexcept, void* context) {
  const int threads = static_cast<int>(std::min<Index>(count, thread_count()));
  {
    const InTask in_task;
    const bool pooled =
        threads > 1 && count <= INT32_MAX && Pool::instance().run(count, threads, task, context);
    for (Index i = 0; !pooled && i < count && !loop_is_stopped(); ++i) task(context, i);
  }
  check_loop();
}

}  // namespace bdl
