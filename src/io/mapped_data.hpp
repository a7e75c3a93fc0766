// Data sets in files that are mapped, not read.
#pragma once

#include <memory>

#include "data/data_set.hpp"

namespace bdl {

/// Two files; y_path may be null.
std::unique_ptr<DataSet> map_npy(const char* x_path, const char* y_path);

/// Two tensors of one file; y_name may be null.
std::unique_ptr<DataSet> map_safetensors(const char* path, const char* x_name, const char* y_name);

}  // namespace bdl
