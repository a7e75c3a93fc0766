// The machine's limits and description.
#pragma once

#include <nlohmann/json.hpp>

#include "record.hpp"

namespace bench {

/// Highest rate of BLAS's products of square matrices. Parameters: dtype, quick.
Record gemm_peak(const Record& parameters);

/// Triad a = b + s c on arrays far larger than the caches, on `threads` threads, in GB/s of the three arrays'
/// bytes. Parameters: dtype, threads.
Record triad_bandwidth(const Record& parameters);

double peak_megabytes();

/// Threads BLAS may use: by its environment variables, else all processors.
int default_threads();

/// Processor, BLAS and its kernels, date.
nlohmann::ordered_json machine();

}  // namespace bench
