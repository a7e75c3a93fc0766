#pragma once

#include <cstdint>

namespace bdl {

/// Element type of arrays in files, beside those of bdl_dtype: int64_t. Callers' arrays cannot have it.
inline constexpr std::int32_t dtype_i64 = 64;

}  // namespace bdl
