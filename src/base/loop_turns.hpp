// Long loops of short turns, on one thread, ask the interrupt now and then: within an Interruptible only.
#pragma once

#include <algorithm>

#include "base/interrupt.hpp"
#include "base/view.hpp"

namespace bdl {

/// Called in each turn, with the numbers that it goes through.
class LoopTurns {
 public:
  void operator()(Index numbers = 1) {
    left_ -= numbers;
    if (left_ >= 0) return;
    left_ = every;
    check_loop();
  }

 private:
  static constexpr Index every = 1 << 16;
  Index left_ = every;
};

/// use(first, count) for parts of 0 .. size - 1, none of which takes long to copy.
template <class Use>
void in_parts(std::size_t size, Use&& use) {
  constexpr std::size_t most = std::size_t{1} << 21;
  for (std::size_t first = 0; first < size; first += most) {
    check_loop();
    use(first, std::min(most, size - first));
  }
}

}  // namespace bdl
