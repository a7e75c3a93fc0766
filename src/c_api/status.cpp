#include <cxxabi.h>
#include <limits.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "base/callback.hpp"
#include "base/interrupt.hpp"
#include "bdl/bdl.h"
#include "c_api/guard.hpp"
#include "parallel/blas_info.hpp"

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

/// Message of the last error. It needs no heap memory and no destructor, so that "out of memory" can be
/// reported.
thread_local char last_error[512];

struct BuildInfo {
  char text[PATH_MAX + 1024];
  BuildInfo() noexcept {
    std::snprintf(text, sizeof text, "libbdl %s, %s, %s; BLAS: %s", BDL_VERSION_STRING, BDL_COMPILER,
                  BDL_MACHINE, blas_info());
  }
};

using Version = std::array<int32_t, 3>;  // major, minor, patch

constexpr Version library_version = {BDL_VERSION_MAJOR, BDL_VERSION_MINOR, BDL_VERSION_PATCH};
constexpr Version oldest_header = {BDL_ABI_SINCE};  // of the same SONAME

bdl_status report(bdl_status status, const char* function, const char* what, const char* more = "") noexcept {
  std::snprintf(last_error, sizeof last_error, "%s: %s%s", function, what, more);
  return status;
}

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
    throw;  // the thread ends or is cancelled in a callback: the C library aborts if this exception is caught
  } catch (...) {
    return report(BDL_ERROR_INTERNAL, function, "internal error: unknown exception");
  }
}

}  // namespace bdl

const char* bdl_status_name(bdl_status status) {
  switch (bdl::enum_number(status)) {
#define BDL_STATUS(name, number, meaning)                                                 \
  case BDL_##name:                                                                        \
    static_assert(BDL_##name == number && static_cast<int>(bdl::Status::name) == number); \
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

void bdl_set_interrupt(bdl_interrupt_fn interrupt, void* user_data) {
  bdl::set_interrupt(interrupt, user_data);
}

int32_t bdl_interrupted(void) {
  return bdl::peek_interrupted() ? 1 : 0;
}

const char* bdl_version(void) {
  return BDL_VERSION_STRING;
}

bdl_status bdl_check_version(int32_t major, int32_t minor, int32_t patch) {
  return bdl::guard(__func__, [&] {
    const bdl::Version header = {major, minor, patch};
    if (std::ranges::any_of(header, [](int32_t number) { return number < 0; }))
      bdl::fail(bdl::Status::ERROR_INVALID_ARGUMENT, "version is %d.%d.%d, expected numbers from 0", major,
                minor, patch);
    if (header > bdl::library_version)
      bdl::fail(bdl::Status::ERROR_UNSUPPORTED,
                "the library is version %s, but the program was compiled with the headers of %d.%d.%d and "
                "expects that version or a later one",
                BDL_VERSION_STRING, major, minor, patch);
    if (header < bdl::oldest_header)
      bdl::fail(bdl::Status::ERROR_UNSUPPORTED,
                "the program was compiled with the headers of %d.%d.%d, but the library is version %s, which "
                "expects those of %d.%d.%d or later: compile the program again",
                major, minor, patch, BDL_VERSION_STRING, bdl::oldest_header[0], bdl::oldest_header[1],
                bdl::oldest_header[2]);
  });
}

const char* bdl_build_info(void) {
  static const bdl::BuildInfo info;
  return info.text;
}
