// Where a training step spends its time, for benchmarks: timers that cost one thread-local read unless a
// profile is being taken.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace bdl {

/// Stages of a step; whatever belongs to none is `rest`.
enum class Stage { rest, sample, forward, backward, gram, project, eig, combine, sums, solve, guard, count };

inline constexpr std::array<const char*, static_cast<std::size_t>(Stage::count)> stage_names{
    "rest", "sample", "forward", "backward", "gram", "project", "eig", "combine", "sums", "solve", "guard"};

struct Profile {
  using Clock = std::chrono::steady_clock;
  std::array<double, static_cast<std::size_t>(Stage::count)> seconds{};
  Stage current = Stage::rest;
  Clock::time_point since = Clock::now();

  /// Books the time since the last call on the current stage; the stage that was current.
  Stage enter(Stage stage) {
    const auto now = Clock::now();
    seconds[static_cast<std::size_t>(current)] += std::chrono::duration<double>(now - since).count();
    since = now;
    return std::exchange(current, stage);
  }
};

/// The profile being taken on this thread, if any.
inline thread_local Profile* active_profile = nullptr;

/// Books its lifetime on a stage, less what nested timers book on theirs.
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
