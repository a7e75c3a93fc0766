// Data sets in files that are mapped into memory, so that they may be larger than it.
#pragma once

#include <memory>

#include "data/data_set.hpp"

namespace bdl {

/// Opens two .npy files; y_path may be null.
std::unique_ptr<DataSet> map_npy(const char* x_path, const char* y_path);

/// Opens two tensors of one safetensors file; y_name may be null.
std::unique_ptr<DataSet> map_safetensors(const char* path, const char* x_name, const char* y_name);

}  // namespace bdl
