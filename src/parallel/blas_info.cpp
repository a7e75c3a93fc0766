#include "parallel/blas_info.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

#include "parallel/blas_library.hpp"

namespace bdl {
namespace {

struct BlasInfo {
  char text[PATH_MAX + 512];
  const char* kernels = text;  // the configuration within `text`, or all of it
  int (*threads)() = nullptr;
  BlasInfo() noexcept {
    BlasLibrary blas;
    find_blas(blas);
    threads = blas.threads;
    describe(blas.place, blas.config, blas.core);
  }

  void describe(const char* place, const char* config, const char* core) noexcept {
    // OpenBLAS for a single kind of processor does not name it in its configuration.
    const bool add_core = !std::strstr(config, core);
    if (!*config && !*core) {
      std::snprintf(text, sizeof text, "%s", place);
      return;
    }
    std::snprintf(text, sizeof text, "%s (%s%s%s)", place, config, *config && add_core ? " " : "",
                  add_core ? core : "");
    kernels = text + std::strlen(place);
  }
};

const BlasInfo& info() noexcept {
  static const BlasInfo answer;
  return answer;
}

}  // namespace

const char* blas_info() noexcept {
  return info().text;
}

const char* blas_kernels() noexcept {
  return info().kernels;
}

int blas_threads() noexcept {
  static const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return info().threads ? std::max(1, info().threads()) : processors;
}

}  // namespace bdl
