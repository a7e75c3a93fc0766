// Every entry point is argument checks and one call inside guard(): no exception gets out, every failure is
// explained, and the host's floating-point environment neither changes results nor is changed.
#pragma once

#include <cstring>
#include <type_traits>

#include "base/error.hpp"
#include "base/float_environment.hpp"
#include "base/interrupt.hpp"
#include "bdl/status.h"

namespace bdl {

/// Within a handler: stores "function: message" for bdl_last_error() and returns the status of the exception.
bdl_status report_exception(const char* function);

/// Runs body, which returns nothing or, when it may end otherwise without failing, a bdl_status.
template <class Body>
bdl_status guard(const char* function, Body&& body) {
  using Result = std::invoke_result_t<Body>;
  static_assert(std::is_void_v<Result> || std::is_same_v<Result, bdl_status>);
  const DefaultFloats floats;
  const InCall call;
  try {
    if constexpr (std::is_void_v<Result>) {
      body();
      return BDL_OK;
    } else {
      return body();
    }
  } catch (...) {
    return report_exception(function);
  }
}

/// The same for what may take long and changes nothing but its outputs: its loops ask the interrupt.
template <class Body>
bdl_status interruptible_guard(const char* function, Body&& body) {
  return guard(function, [&] {
    const Interruptible work;
    return body();
  });
}

/// The number in an enum that a C caller may have filled with any: where that is none of the enum's, C++ must
/// not read it as one.
template <class Enum>
int enum_number(const Enum& value) {
  static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// For pointers to objects and to functions.
template <class T>
void not_null(T* pointer, const char* name) {
  if (!pointer) fail(Status::ERROR_INVALID_ARGUMENT, "%s is NULL", name);
}

}  // namespace bdl
