// A model of the user's own, by two callbacks, of the data of rank_runs.hpp with one target.
#pragma once

#include "rank_runs.hpp"

/// f = w . x + b. Its call number `bad_call` fails, or writes infinity.
struct UserLine {
  int bad_call = 0;
  bool infinite = false;
  int calls = 0;
};

inline int32_t line_outputs(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  auto& model = *static_cast<UserLine*>(user_data);
  const bool is_bad = ++model.calls == model.bad_call;
  if (is_bad && !model.infinite) return 5;
  const auto *t = static_cast<const double*>(theta.data), *from = static_cast<const double*>(x.data);
  auto* to = static_cast<double*>(f.data);
  for (int64_t i = 0; i < x.rows; ++i) {
    double sum = t[RankData::inputs];
    for (int64_t j = 0; j < x.cols; ++j) sum += t[j] * from[i * x.row_stride + j * x.col_stride];
    to[i * f.row_stride] = is_bad ? INFINITY : sum;
  }
  return 0;
}

inline int32_t line_gradients(void*, bdl_matrix, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
  const auto *from = static_cast<const double*>(x.data), *e = static_cast<const double*>(seeds.data);
  auto* to = static_cast<double*>(rows.data);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j <= x.cols; ++j)
      to[i * rows.row_stride + j * rows.col_stride] =
          e[i * seeds.row_stride] * (j < x.cols ? from[i * x.row_stride + j * x.col_stride] : 1);
  return 0;
}

/// The line must outlive it.
inline Model line_of(UserLine& line) {
  bdl_model* model = nullptr;
  create_user(BDL_F64, RankData::inputs, 1, RankData::inputs + 1, BDL_GAUSSIAN, line_outputs, line_gradients,
              &line, nullptr, &model);
  return Model(model);
}
