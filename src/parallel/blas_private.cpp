#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "parallel/blas_library.hpp"

namespace bdl {

// NOLINTBEGIN(bugprone-reserved-identifier): option --wrap of the linker makes these names
extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
int openblas_num_threads_env();  // OPENBLAS_NUM_THREADS at the start of the process; 0 if not set
int openblas_omp_num_threads_env();
void* __real_blas_memory_alloc(int place);
void __real_blas_memory_free(void* buffer);
void* __wrap_blas_memory_alloc(int place);
void __wrap_blas_memory_free(void* buffer);
}

namespace {

std::mutex buffers;

/// Returns the number of threads that an OpenBLAS with threads would use: at most one for each processor that
/// this process may use.
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
// that ask at the same time, and their products are wrong. The linker sends all requests for buffers here,
// where a lock lets one thread ask at a time.
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
