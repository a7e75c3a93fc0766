#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

namespace bench {
namespace {

constexpr int batch_calls = 200;

/// Milliseconds per call of `count` calls.
double measure(int count, const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / count;
}

}  // namespace

Timing time_calls(Effort effort, const std::function<void()>& call) {
  call();
  std::vector<double> times{measure(1, call)};
  const int batch = times.front() < 1 ? batch_calls : 1;
  if (batch > 1) {
    measure(batch, call);
    times.clear();
  }
  double total = 0;
  while (static_cast<int>(times.size()) < effort.measurements || total < 1e3 * effort.seconds) {
    times.push_back(measure(batch, call));
    total += times.back() * batch;
  }
  std::ranges::sort(times);
  return {static_cast<std::int64_t>(times.size()) * batch, times[times.size() / 2], times.front(),
          times.back()};
}

std::vector<double> by_turns(bool quick, const std::vector<std::function<void()>>& calls) {
  std::vector<double> least(calls.size(), std::numeric_limits<double>::infinity());
  for (int turn = 0; turn < (quick ? 1 : 12); ++turn)
    for (std::size_t i = 0; i < calls.size(); ++i)
      least[i] = std::min(least[i], time_calls(quick ? Effort{1, 0} : Effort{5, 0}, calls[i]).min);
  return least;
}

}  // namespace bench
