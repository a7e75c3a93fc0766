#include "bits/user_model.hpp"

#include <cstddef>

namespace bits {
namespace {

template <class Matrix>
std::ptrdiff_t place(const Matrix& m, std::int64_t i, std::int64_t j) {
  return static_cast<std::ptrdiff_t>(i * m.row_stride + j * m.col_stride);
}

double get(const bdl_matrix& m, std::int64_t i, std::int64_t j) {
  const std::ptrdiff_t at = place(m, i, j);
  return m.dtype == BDL_F64 ? static_cast<const double*>(m.data)[at]
                            : static_cast<double>(static_cast<const float*>(m.data)[at]);
}

void set(const bdl_matrix_out& m, std::int64_t i, std::int64_t j, double value) {
  const std::ptrdiff_t at = place(m, i, j);
  if (m.dtype == BDL_F64)
    static_cast<double*>(m.data)[at] = value;
  else
    static_cast<float*>(m.data)[at] = static_cast<float>(value);
}

}  // namespace

std::int32_t user_outputs(void*, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  const double a = get(parameters, 0, 0), b = get(parameters, 0, 1), c = get(parameters, 0, 2),
               d = get(parameters, 0, 3);
  for (std::int64_t i = 0; i < inputs.rows; ++i) {
    const double x = get(inputs, i, 0), product = x * get(inputs, i, 1);
    set(outputs, i, 0, a * x + b * c * product + d);
  }
  return 0;
}

std::int32_t user_gradients(void*, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix output_gradients,
                            bdl_matrix_out rows) {
  const double b = get(parameters, 0, 1), c = get(parameters, 0, 2);
  for (std::int64_t i = 0; i < inputs.rows; ++i) {
    const double x = get(inputs, i, 0), product = x * get(inputs, i, 1), seed = get(output_gradients, i, 0);
    set(rows, i, 0, seed * x);
    set(rows, i, 1, seed * c * product);
    set(rows, i, 2, seed * b * product);
    set(rows, i, 3, seed);
  }
  return 0;
}

}  // namespace bits
