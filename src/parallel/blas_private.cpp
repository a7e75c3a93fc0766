#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "parallel/blas_library.hpp"

namespace bdl {

// NOLINTBEGIN(bugprone-reserved-identifier): names that the linker makes of --wrap
extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
int openblas_num_threads_env();  // of OPENBLAS_NUM_THREADS at the start, 0 without it
int openblas_omp_num_threads_env();
void* __real_blas_memory_alloc(int place);
void __real_blas_memory_free(void* buffer);
void* __wrap_blas_memory_alloc(int place);
void __wrap_blas_memory_free(void* buffer);
}

namespace {

std::mutex buffers;

/// As many as an OpenBLAS with threads would have: no more than the processors that this process may use.
int wanted_threads() noexcept {
  static const int wanted = [] {
    const int own = openblas_num_threads_env(), omp = openblas_omp_num_threads_env();
    cpu_set_t allowed;
    const bool known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    const int processors = known ? CPU_COUNT(&allowed) : CPU_SETSIZE;
    return std::min(own > 0 ? own : omp > 0 ? omp : processors, processors);
  }();
  return wanted;
}

}  // namespace

// A serial OpenBLAS that was built without USE_LOCKING, as Debian's is, may give one buffer to two threads
// that ask at the same time, and their products are wrong. All that asks for one comes here instead.
void* __wrap_blas_memory_alloc(int place) {
  const std::scoped_lock lock(buffers);
  return __real_blas_memory_alloc(place);
}

void __wrap_blas_memory_free(void* buffer) {
  const std::scoped_lock lock(buffers);
  __real_blas_memory_free(buffer);
}
// NOLINTEND(bugprone-reserved-identifier)

void find_blas(BlasLibrary& blas) noexcept {
  std::snprintf(blas.place, sizeof blas.place, "within libbdl");
  blas.config = openblas_get_config();
  blas.core = openblas_get_corename();
  blas.threads = wanted_threads;
}

}  // namespace bdl
