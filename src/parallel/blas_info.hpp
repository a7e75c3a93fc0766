// Describes the BLAS that this process uses: several may be installed, and the system or the host chooses one
// at run time.
#pragma once

namespace bdl {

/// Returns "FILE (CONFIGURATION)" as one line, a static string. Only OpenBLAS tells its configuration.
const char* blas_info() noexcept;

/// Returns the part that results depend on: the configuration or, if the BLAS does not tell it, the file.
const char* blas_kernels() noexcept;

/// Returns the number of threads that BLAS uses at present or, if it does not tell, that of processors.
int blas_threads() noexcept;

}  // namespace bdl
