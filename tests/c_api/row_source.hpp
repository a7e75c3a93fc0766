// A data set's rows from a callback that notes which ones are asked for, and fails on request.
#pragma once

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "handles.hpp"

/// Row-major numbers somebody else owns. Call number `bad_call` fails, or asks to stop and takes its time.
struct RowSource {
  const double *x, *y;
  int64_t rows, inputs, targets;
  int bad_call = 0;
  bool interrupts = false;
  int calls = 0;
  bool is_asked = false;  // to stop
  std::set<int64_t> asked{};
};

inline int32_t read_rows(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                         bdl_matrix_out y) {
  auto& source = *static_cast<RowSource*>(user_data);
  if (++source.calls == source.bad_call) {
    if (!source.interrupts) {
      bdl_set_callback_message("the disk is gone");
      return 7;
    }
    source.is_asked = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  const auto copy = [](const double* from, int64_t row, int64_t size, const bdl_matrix_out& to, int64_t i) {
    if (to.data) std::copy_n(from + row * size, size, static_cast<double*>(to.data) + i * size);
  };
  for (int64_t i = 0; i < count; ++i) {
    source.asked.insert(rows[i]);
    copy(source.x, rows[i], source.inputs, x, i);
    copy(source.y, rows[i], source.targets, y, i);
  }
  return 0;
}

inline Dataset read_by(RowSource& source) {
  bdl_dataset* handle = nullptr;
  bdl_dataset_from_callback(source.rows, source.inputs, source.targets, read_rows, &source, nullptr, &handle);
  return Dataset(handle);
}
