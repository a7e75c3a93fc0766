// Which BLAS answers in this process: several may be installed, and the system or the host chooses at run
// time.
#pragma once

namespace bdl {

/// "file (what the BLAS says about itself)" on one line; the second part from OpenBLAS only. A static string.
const char* blas_info() noexcept;

/// What results depend on: the part without the file, or the file if the BLAS says nothing about itself.
const char* blas_kernels() noexcept;

/// Threads that BLAS uses at present; those of the machine where it does not say.
int blas_threads() noexcept;

}  // namespace bdl
