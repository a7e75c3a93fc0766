// A user's own model: f(x) = a x_1 + b c x_1 x_2 + d, of nothing that a mathematical library would round.
#pragma once

#include <cstdint>

#include "bdl/bdl.h"

namespace bits {

inline constexpr std::int64_t user_inputs = 2, user_parameters = 4;

std::int32_t user_outputs(void*, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs);
std::int32_t user_gradients(void*, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix output_gradients,
                            bdl_matrix_out rows);

}  // namespace bits
