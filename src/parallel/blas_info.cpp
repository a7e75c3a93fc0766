#include "parallel/blas_info.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

extern "C" void dgemm_();  // BLAS itself: only its address is taken

namespace bdl {
namespace {

/// Calls a function of the library that takes nothing and returns a string; "" where it has none of that
/// name.
const char* ask(void* library, const char* function) noexcept {
  void* const address = library ? ::dlsym(library, function) : nullptr;
  const char* answer = address ? reinterpret_cast<const char* (*)()>(address)() : nullptr;
  return answer ? answer : "";
}

struct BlasInfo {
  char text[PATH_MAX + 512];
  const char* kernels = text;  // what it says about itself, if it does
  int (*threads)() = nullptr;
  BlasInfo() noexcept {
    Dl_info found{};
    char path[PATH_MAX] = "none in this process";
    void* library = nullptr;
    if (::dladdr(reinterpret_cast<void*>(&dgemm_), &found) && found.dli_fname) {
      // Already loaded, so this only counts a reference: questions go to the library that answers, no other.
      library = ::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
      if (!::realpath(found.dli_fname, path)) std::snprintf(path, sizeof path, "%s", found.dli_fname);
    }
    if (library) threads = reinterpret_cast<int (*)()>(::dlsym(library, "openblas_get_num_threads"));
    describe(path, ask(library, "openblas_get_config"), ask(library, "openblas_get_corename"));
    if (library) ::dlclose(library);
  }

  void describe(const char* path, const char* config, const char* core) noexcept {
    // Builds for one kind of processor leave it out of their configuration.
    const bool add_core = !std::strstr(config, core);
    if (!*config && !*core) {
      std::snprintf(text, sizeof text, "%s", path);
      return;
    }
    std::snprintf(text, sizeof text, "%s (%s%s%s)", path, config, *config && add_core ? " " : "",
                  add_core ? core : "");
    kernels = text + std::strlen(path);
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
