// Callbacks of progress: now and then they stop training, or interfere with the optimizer.
#pragma once

#include "fuzz/api/reentrance.hpp"

namespace fuzz {

inline int32_t progress(void* user_data, const bdl_optimizer* optimizer) {
  std::int64_t step, planned;
  double epoch;
  bdl_optimizer_progress(optimizer, &step, &planned, &epoch);
  auto& callbacks = *static_cast<Session::Callbacks*>(user_data);
  interfere(callbacks);
  free_in_use(callbacks);
  if (callbacks.until_failure < 0 || callbacks.until_failure-- != 0) return 0;
  return ++callbacks.failures % 2 ? 1 : -1;
}

}  // namespace fuzz
