#include "linalg/blas_info.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include <cstdio>
#include <cstring>

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
  BlasInfo() noexcept {
    Dl_info found{};
    char path[PATH_MAX] = "unknown";
    void* library = nullptr;
    if (::dladdr(reinterpret_cast<void*>(&cblas_dgemm), &found) && found.dli_fname) {
      // Already loaded, so this only counts a reference: questions go to the library that answers, no other.
      library = ::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
      if (!::realpath(found.dli_fname, path)) std::snprintf(path, sizeof path, "%s", found.dli_fname);
    }
    describe(path, ask(library, "openblas_get_config"), ask(library, "openblas_get_corename"));
    if (library) ::dlclose(library);
  }

  void describe(const char* path, const char* config, const char* core) noexcept {
    // Builds for one kind of processor leave it out of their configuration.
    const bool add_core = !std::strstr(config, core);
    if (*config || *core)
      std::snprintf(text, sizeof text, "%s (%s%s%s)", path, config, *config && add_core ? " " : "",
                    add_core ? core : "");
    else
      std::snprintf(text, sizeof text, "%s", path);
  }
};

}  // namespace

const char* blas_info() noexcept {
  static const BlasInfo info;
  return info.text;
}

}  // namespace bdl
