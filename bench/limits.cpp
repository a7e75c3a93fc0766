#include <cblas.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "machine.hpp"
#include "timing.hpp"

namespace bench {
namespace {

void blas(int n, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

void blas(int n, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

/// Best rate of square products of these sizes, GFLOP/s.
template <class T, class Multiply>
double best_rate(const std::vector<int>& sizes, int calls, Multiply multiply) {
  double best = 0;
  for (const int n : sizes) {
    std::vector<T> a(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), T(0.5)), b(a), c(a);
    const Timing timing = time_calls({calls, 0}, [&] { multiply(n, a.data(), b.data(), c.data()); });
    best = std::max(best, 2.0 * n * n * n / timing.min / 1e6);
  }
  return best;
}

/// The peak, and the rate at a size where BLAS is slow.
template <class T>
Record gemm(const Record& parameters) {
  const bool quick = parameters.has("quick");
  const std::vector<int> sizes = quick ? std::vector<int>{512, 768} : std::vector<int>{768, 1024, 1536, 2048};
  const int calls = quick ? 2 : 5;
  const auto multiply = [](int n, const T* a, const T* b, T* c) { blas(n, a, b, c); };
  return Record(parameters)
      .set("gflops", best_rate<T>(sizes, calls, multiply))
      .set("gflops_100", best_rate<T>({100}, 200, multiply));
}

template <class T>
void triad_pass(T* __restrict a, const T* __restrict b, const T* __restrict c, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) a[i] = b[i] + T(3) * c[i];
}

/// Seconds of the fastest of `repetitions` passes. Passes are timed where all threads meet: a thread that
/// starts late must not find the others' work done outside its time.
template <class T>
double best_triad(int threads, std::int64_t size, int repetitions) {
  using Clock = std::chrono::steady_clock;
  const auto count = static_cast<std::size_t>(size);
  // Not initialised here: each thread touches its part first.
  const std::unique_ptr<T[]> a(new T[count]), b(new T[count]), c(new T[count]);
  std::vector<Clock::time_point> meetings;
  meetings.reserve(static_cast<std::size_t>(repetitions) + 1);
  std::barrier together(threads, [&meetings]() noexcept { meetings.push_back(Clock::now()); });
  const auto part = [&](int thread) {
    const std::int64_t begin = size * thread / threads, end = size * (thread + 1) / threads;
    for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] = c[i] = T(1);
    together.arrive_and_wait();
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      triad_pass(a.get() + begin, b.get() + begin, c.get() + begin, end - begin);
      together.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(part, thread);
  part(0);
  for (std::thread& other : others) other.join();
  double best = 1e300;
  for (std::size_t i = 1; i < meetings.size(); ++i)
    best = std::min(best, std::chrono::duration<double>(meetings[i] - meetings[i - 1]).count());
  return best;
}

template <class T>
Record triad(const Record& parameters) {
  const bool quick = parameters.has("quick");
  const std::int64_t megabytes = quick ? 64 : 256;  // each array
  const std::int64_t size = megabytes * 1024 * 1024 / static_cast<std::int64_t>(sizeof(T));
  const double seconds = best_triad<T>(static_cast<int>(parameters.integer("threads")), size, quick ? 5 : 20);
  return Record(parameters)
      .set("array_mb", megabytes)
      .set("gbs", 3.0 * static_cast<double>(size) * sizeof(T) / seconds / 1e9);
}

}  // namespace

Record gemm_peak(const Record& parameters) {
  return parameters.text("dtype") == "f32" ? gemm<float>(parameters) : gemm<double>(parameters);
}

Record triad_bandwidth(const Record& parameters) {
  return parameters.text("dtype") == "f32" ? triad<float>(parameters) : triad<double>(parameters);
}

}  // namespace bench
