// A model of the caller's own whose callbacks fail when the sequence says so: f_c = sum_k theta_k sin(k + c +
// x_(k mod inputs)).
#pragma once

#include <cmath>

#include "fuzz/api/reentrance.hpp"

namespace fuzz {

/// Whether the callback in progress is to fail.
inline bool fails(void* user_data) {
  if (!user_data) return false;  // a struct_size that did not reach it
  auto& callbacks = *static_cast<Session::Callbacks*>(user_data);
  interfere(callbacks);
  return callbacks.until_failure >= 0 && callbacks.until_failure-- == 0;
}

inline double basis(bdl_matrix x, std::int64_t i, std::int64_t k, std::int64_t c) {
  return std::sin(static_cast<double>(k + c) + read(x, i, k % x.cols));
}

inline int32_t user_outputs(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  if (fails(user_data)) return 1;
  for (std::int64_t i = 0; i < f.rows; ++i)
    for (std::int64_t c = 0; c < f.cols; ++c) {
      double sum = 0;
      for (std::int64_t k = 0; k < theta.cols; ++k) sum += read(theta, 0, k) * basis(x, i, k, c);
      write(f, i, c, sum);
    }
  return 0;
}

inline int32_t user_gradients(void* user_data, bdl_matrix, bdl_matrix x, bdl_matrix seeds,
                              bdl_matrix_out rows) {
  if (fails(user_data)) return 1;
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t k = 0; k < rows.cols; ++k) {
      double sum = 0;
      for (std::int64_t c = 0; c < seeds.cols; ++c) sum += read(seeds, i, c) * basis(x, i, k, c);
      write(rows, i, k, sum);
    }
  return 0;
}

inline bdl_model_callbacks user_callbacks(Session& s) {
  bdl_model_callbacks functions{};
  functions.struct_size = sizeof functions;
  functions.outputs = user_outputs;
  functions.gradients = user_gradients;
  functions.user_data = &s.callbacks;
  functions.destroy = [](void* user_data) { --static_cast<Session::Callbacks*>(user_data)->owned; };
  return functions;
}

}  // namespace fuzz
