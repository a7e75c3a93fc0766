// A caller's progress callback as the core knows it.
#pragma once

#include <cstdint>

#include "base/callback.hpp"
#include "inference/batch/course.hpp"

namespace bdl {

/// The callback with the handle it is to see.
template <class Handle>
struct CallerProgress {
  std::int32_t (*function)(void* user_data, const Handle* handle);  ///< may be NULL
  void* user_data;
  const Handle* handle;

  Progress progress() { return {function ? call : nullptr, this}; }

 private:
  static std::int32_t call(void* context) {
    const auto& caller = *static_cast<const CallerProgress*>(context);
    return answer_of("progress", [&] { return caller.function(caller.user_data, caller.handle); });
  }
};

}  // namespace bdl
