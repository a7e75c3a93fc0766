#include <limits.h>

#include <algorithm>
#include <array>
#include <cstdio>

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

}  // namespace
}  // namespace bdl

const char* bdl_version(void) {
  return BDL_VERSION_STRING;
}

bdl_status bdl_check_version(int32_t major, int32_t minor, int32_t patch) {
  return bdl::guard("bdl_check_version", [&] {
    const bdl::Version header = {major, minor, patch};
    if (std::ranges::any_of(header, [](int32_t number) { return number < 0; }))
      bdl::fail(bdl::Status::ERROR_INVALID_ARGUMENT, "version is %d.%d.%d, expected numbers from 0", major,
                minor, patch);
    if (header > bdl::library_version)
      bdl::fail(bdl::Status::ERROR_UNSUPPORTED,
                "the library is %s, the program was compiled with the headers of %d.%d.%d and expects that "
                "or a later one",
                BDL_VERSION_STRING, major, minor, patch);
    if (header < bdl::oldest_header)
      bdl::fail(
          bdl::Status::ERROR_UNSUPPORTED,
          "the program was compiled with the headers of %d.%d.%d; the library is %s, which expects those of "
          "%d.%d.%d or later: compile again",
          major, minor, patch, BDL_VERSION_STRING, bdl::oldest_header[0], bdl::oldest_header[1],
          bdl::oldest_header[2]);
  });
}

const char* bdl_build_info(void) {
  static const bdl::BuildInfo info;
  return info.text;
}
