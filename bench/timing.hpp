// Wall-clock times of repeated calls.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace bench {

/// How long to repeat: at least so many measurements, and at least so many seconds.
struct Effort {
  int measurements;
  double seconds;
};

/// Milliseconds per call, over `calls` calls.
struct Timing {
  std::int64_t calls;
  double median, min, max;
};

/// Times `call` after one call that is not counted. Calls shorter than a millisecond are measured in batches,
/// each of which counts by its mean, after one batch that is not counted.
Timing time_calls(Effort effort, const std::function<void()>& call);

/// Milliseconds of each call, taken by turns: the least.
std::vector<double> by_turns(bool quick, const std::vector<std::function<void()>>& calls);

}  // namespace bench
