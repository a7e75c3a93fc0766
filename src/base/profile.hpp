// Timers for the stages of a training step, for benchmarks. They cost one thread-local read unless a profile
// is taken.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace bdl {

/// Stages of a step; `rest` is everything else.
enum class Stage { rest, sample, forward, backward, gram, project, eig, combine, sums, solve, guard, count };

inline constexpr std::array<const char*, static_cast<std::size_t>(Stage::count)> stage_names{
    "rest", "sample", "forward", "backward", "gram", "project", "eig", "combine", "sums", "solve", "guard"};

struct Profile {
  using Clock = std::chrono::steady_clock;
  std::array<double, static_cast<std::size_t>(Stage::count)> seconds{};
  Stage current = Stage::rest;
  Clock::time_point since = Clock::now();

  /// Adds the time since the last call to the current stage, enters another one, and returns the previous
  /// one.
  Stage enter(Stage stage) {
    const auto now = Clock::now();
    seconds[static_cast<std::size_t>(current)] += std::chrono::duration<double>(now - since).count();
    since = now;
    return std::exchange(current, stage);
  }
};

/// Profile that is taken on this thread, or null.
inline thread_local Profile* active_profile = nullptr;

/// Adds its lifetime to a stage, except for the time of nested timers.
class StageTimer {
 public:
  explicit StageTimer(Stage stage) : outer_(active_profile ? active_profile->enter(stage) : Stage::rest) {}
  ~StageTimer() {
    if (active_profile) active_profile->enter(outer_);
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  Stage outer_;
};

}  // namespace bdl
