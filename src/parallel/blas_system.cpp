#include <dlfcn.h>
#include <stdlib.h>

#include <cstdio>

#include "parallel/blas_library.hpp"

extern "C" void dgemm_();  // a function of BLAS; only its address is used

namespace bdl {
namespace {

/// Calls a function of the library that has no arguments and returns a string. Returns "" if there is no such
/// function.
const char* ask(void* library, const char* function) noexcept {
  void* const address = ::dlsym(library, function);
  const char* answer = address ? reinterpret_cast<const char* (*)()>(address)() : nullptr;
  return answer ? answer : "";
}

}  // namespace

void find_blas(BlasLibrary& blas) noexcept {
  Dl_info found{};
  if (!::dladdr(reinterpret_cast<void*>(&dgemm_), &found) || !found.dli_fname) {
    std::snprintf(blas.place, sizeof blas.place, "none in this process");
    return;
  }
  if (!::realpath(found.dli_fname, blas.place))
    std::snprintf(blas.place, sizeof blas.place, "%s", found.dli_fname);
  // The library is loaded already; this opens that one and no other, so that its own functions are asked.
  void* const library = ::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return;
  blas.config = ask(library, "openblas_get_config");
  blas.core = ask(library, "openblas_get_corename");
  blas.threads = reinterpret_cast<int (*)()>(::dlsym(library, "openblas_get_num_threads"));
  ::dlclose(library);
}

}  // namespace bdl
