// The library that multiplies: blas_system.cpp finds the one that the system or the host has chosen,
// blas_private.cpp is compiled in its place where one is a part of libbdl.so (BDL_BLAS=private).
#pragma once

#include <limits.h>

namespace bdl {

struct BlasLibrary {
  char place[PATH_MAX];     // its file, or in words
  const char* config = "";  // what OpenBLAS says about itself; another says nothing
  const char* core = "";
  int (*threads)() = nullptr;  // how many are to work at present, if it is known
};

void find_blas(BlasLibrary& blas) noexcept;

}  // namespace bdl
