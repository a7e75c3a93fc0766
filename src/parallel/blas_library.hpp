// Finds the BLAS library. blas_system.cpp finds the one that the system or the host has chosen;
// blas_private.cpp is compiled in its place if OpenBLAS is a part of libbdl.so (BDL_BLAS=private).
#pragma once

#include <limits.h>

namespace bdl {

struct BlasLibrary {
  char place[PATH_MAX];     // its file, or words if there is none
  const char* config = "";  // the configuration of OpenBLAS; empty for other libraries, as `core` is
  const char* core = "";
  int (*threads)() = nullptr;  // returns the number of threads at present; null if it is not known
};

void find_blas(BlasLibrary& blas) noexcept;

}  // namespace bdl
