// The C API: every entry point checks its arguments and makes one call of the core, inside guard(). No
// exception leaves it, every failure is explained, and the host's floating-point environment neither changes
// results nor is changed.
//
// handles.hpp has the opaque types and with(), which visits the object of a handle in its arithmetic;
// in_use.hpp keeps two calls from writing to one object; convert.hpp has checks and conversions of arguments.
// The other files follow the headers of include/bdl: model*.cpp, posterior*.cpp, optimizer.cpp (options and
// priors), training.cpp (steps on data), online.cpp (streams), predict.cpp, metrics.cpp, search.cpp,
// dataset.cpp, checkpoint.cpp, communicator.cpp, tables.cpp (methods, options, presets, networks), status.cpp
// (errors, interrupts, version).
#pragma once

#include <cstring>
#include <type_traits>

#include "base/error.hpp"
#include "base/float_environment.hpp"
#include "base/interrupt.hpp"
#include "bdl/status.h"

namespace bdl {

/// Called in an exception handler: stores "function: message" for bdl_last_error() and returns the status.
bdl_status report_exception(const char* function);

/// Runs body(), which returns nothing, or a bdl_status if it can end early without failing.
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

/// As guard(), for long calls that change nothing but their outputs: their parallel loops ask the interrupt.
template <class Body>
bdl_status interruptible_guard(const char* function, Body&& body) {
  return guard(function, [&] {
    const Interruptible work;
    return body();
  });
}

/// Returns the number in an enum that a C caller may have filled with any value, which C++ must not read as
/// the enum before it is checked.
template <class Enum>
int enum_number(const Enum& value) {
  static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// Fails if a pointer, to an object or a function, is null.
template <class T>
void not_null(T* pointer, const char* name) {
  if (!pointer) fail(Status::ERROR_INVALID_ARGUMENT, "%s is NULL", name);
}

}  // namespace bdl
