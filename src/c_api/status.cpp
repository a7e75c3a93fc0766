#include <cxxabi.h>
#include <limits.h>

#include <cstdio>
#include <new>
#include <stdexcept>

#include "base/callback_message.hpp"
#include "bdl/bdl.h"
#include "c_api/guard.hpp"
#include "parallel/blas_info.hpp"

#define BDL_STATUS(name, number, meaning) \
  static_assert(BDL_##name == number && static_cast<int>(bdl::Status::name) == number);
#include "base/status.def"
#undef BDL_STATUS

#if defined(__clang__)
#define BDL_COMPILER __VERSION__
#else
#define BDL_COMPILER "GCC " __VERSION__
#endif

#if defined(__x86_64__)
#define BDL_MACHINE "x86-64"
#elif defined(__aarch64__)
#define BDL_MACHINE "aarch64"
#elif defined(__powerpc64__)
#define BDL_MACHINE "ppc64"
#elif defined(__riscv)
#define BDL_MACHINE "riscv"
#else
#define BDL_MACHINE "other machine"
#endif

namespace bdl {
namespace {

/// No heap memory and no destructor: "out of memory" can be reported. Room for Error's text after a function
/// name.
thread_local char last_error[512];

bdl_status report(bdl_status status, const char* function, const char* what, const char* more = "") noexcept {
  std::snprintf(last_error, sizeof last_error, "%s: %s%s", function, what, more);
  return status;
}

struct BuildInfo {
  char text[PATH_MAX + 1024];
  BuildInfo() noexcept {
    std::snprintf(text, sizeof text, "libbdl %s, %s, %s; BLAS: %s", BDL_VERSION_STRING, BDL_COMPILER,
                  BDL_MACHINE, blas_info());
  }
};

}  // namespace

bdl_status report_exception(const char* function) {
  try {
    throw;
  } catch (const Error& error) {
    return report(static_cast<bdl_status>(error.status()), function, error.what());
  } catch (const std::bad_alloc&) {
    return report(BDL_ERROR_OUT_OF_MEMORY, function, "out of memory");
  } catch (const std::length_error&) {  // a container asked for more than memory can hold
    return report(BDL_ERROR_OUT_OF_MEMORY, function, "out of memory");
  } catch (const std::exception& error) {
    return report(BDL_ERROR_INTERNAL, function, "internal error: ", error.what());
  } catch (const abi::__forced_unwind&) {
    throw;  // a thread that ends in a callback or is cancelled: the C library aborts if that ends here
  } catch (...) {
    return report(BDL_ERROR_INTERNAL, function, "internal error: unknown exception");
  }
}

}  // namespace bdl

const char* bdl_status_name(bdl_status status) {
  switch (bdl::enum_number(status)) {
#define BDL_STATUS(name, number, meaning) \
  case BDL_##name:                        \
    return "BDL_" #name;
#include "base/status.def"
#undef BDL_STATUS
  }
  return "unknown status";
}

const char* bdl_last_error(void) {
  return bdl::last_error;
}

void bdl_set_callback_message(const char* message) {
  bdl::set_callback_message(message);
}

const char* bdl_version(void) {
  return BDL_VERSION_STRING;
}

const char* bdl_build_info(void) {
  static const bdl::BuildInfo info;
  return info.text;
}
