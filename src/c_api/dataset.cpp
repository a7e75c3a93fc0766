#include "bdl/dataset.h"

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "data/callback_data.hpp"
#include "data/moments.hpp"
#include "io/mapped_data.hpp"

namespace bdl {
namespace {

constexpr Index most_rows = Index{1} << 52, most_columns = largest_size;

/// Number of windows for which there are streams of random numbers.
constexpr Index most_windows = INT32_MAX;

void check_blocks(const RowBlocks& blocks, Index rows) {
  check_range(blocks.rows, 0, most_rows, "rows_in_block");
  if (!blocks.given()) return;
  check_range(blocks.window, 1, most_rows, "window");
  const Index count = (rows + blocks.rows - 1) / blocks.rows;
  if ((count - 1) / blocks.window >= most_windows)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "rows_in_block is %lld and window %lld, but %lld rows may make at most 2^31 - 1 windows",
         static_cast<long long>(blocks.rows), static_cast<long long>(blocks.window),
         static_cast<long long>(rows));
}

void check_numbers(const int64_t* rows, int64_t count, Index all) {
  not_null(rows, "rows");
  check_range(count, 1, largest_size, "count");
  for (Index i = 0; i < count; ++i)
    if (rows[i] < 0 || rows[i] >= all)
      fail(Status::ERROR_INVALID_ARGUMENT, "rows[%lld] is %lld, expected 0 to %lld",
           static_cast<long long>(i), static_cast<long long>(rows[i]), static_cast<long long>(all - 1));
}

/// Returns memory for an output, or none if the caller does not want it.
MatrixView<double> memory_for(Buffer<double>& buffer, Index columns, Index count, const OutArray& out) {
  if (!given(out)) return {};
  buffer.reserve(columns * count);
  return buffer.matrix(columns, count);
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_dataset_from_arrays(bdl_matrix x, bdl_matrix y, bdl_dataset** dataset) {
  return guard(__func__, [&] {
    not_null(dataset, "dataset");
    check_shape(x, -1, -1, "x");
    if (given(y)) check_shape(y, x.rows, -1, "y");
    *dataset = new bdl_dataset{std::make_unique<ArrayData>(x, y)};
  });
}

bdl_status bdl_dataset_from_callback(int64_t rows, int64_t inputs, int64_t targets, bdl_read_fn read,
                                     void* user_data, void (*destroy)(void* user_data),
                                     bdl_dataset** dataset) {
  return guard(__func__, [&] {
    not_null(dataset, "dataset");
    check_range(rows, 1, most_rows, "rows");
    check_range(inputs, 1, most_columns, "inputs");
    check_range(targets, 0, most_columns, "targets");
    not_null(read, "read");
    auto handle = std::make_unique<bdl_dataset>();
    handle->rows = std::make_unique<CallbackData>(rows, inputs, targets, RowReader{read, user_data, destroy});
    *dataset = handle.release();  // nothing may fail once the object exists, which will call destroy
  });
}

bdl_status bdl_dataset_from_npy(const char* x_path, const char* y_path, bdl_dataset** dataset) {
  return guard(__func__, [&] {
    not_null(x_path, "x_path");
    not_null(dataset, "dataset");
    *dataset = new bdl_dataset{map_npy(x_path, y_path)};
  });
}

bdl_status bdl_dataset_from_safetensors(const char* path, const char* x_name, const char* y_name,
                                        bdl_dataset** dataset) {
  return guard(__func__, [&] {
    not_null(path, "path");
    not_null(x_name, "x_name");
    not_null(dataset, "dataset");
    *dataset = new bdl_dataset{map_safetensors(path, x_name, y_name)};
  });
}

void bdl_dataset_free(bdl_dataset* dataset) {
  free_handle(dataset);
}

int64_t bdl_dataset_rows(const bdl_dataset* dataset) {
  return dataset ? dataset->rows->rows() : 0;
}

int64_t bdl_dataset_inputs(const bdl_dataset* dataset) {
  return dataset ? dataset->rows->inputs() : 0;
}

int64_t bdl_dataset_targets(const bdl_dataset* dataset) {
  return dataset ? dataset->rows->targets() : 0;
}

bdl_status bdl_dataset_set_block(bdl_dataset* dataset, int64_t rows_in_block, int64_t window) {
  return guard(__func__, [&] {
    not_null(dataset, "dataset");
    const InUse use(dataset, {{"dataset", dataset->rows.get(), true}});
    const RowBlocks blocks{rows_in_block, window};
    check_blocks(blocks, dataset->rows->rows());
    dataset->rows->blocks = blocks;
  });
}

bdl_status bdl_dataset_target_range(bdl_dataset* dataset, bdl_matrix_out smallest, bdl_matrix_out largest) {
  return guard(__func__, [&] {
    with_rows(dataset, [&](DataSet& data) {
      const Index targets = data.targets();
      if (targets == 0) fail(Status::ERROR_SHAPE, "dataset has 0 columns of y, expected at least 1");
      if (given(smallest)) check_output(smallest, 1, targets, "smallest");
      if (given(largest)) check_output(largest, 1, targets, "largest");
      check_apart({{"smallest", smallest}, {"largest", largest}});
      const TargetRange range = target_range(data);
      if (given(smallest)) write_result<double>({range.smallest.data(), targets, 1}, smallest, "smallest");
      if (given(largest)) write_result<double>({range.largest.data(), targets, 1}, largest, "largest");
    });
  });
}

bdl_status bdl_dataset_read(bdl_dataset* dataset, const int64_t* rows, int64_t count, bdl_matrix_out x,
                            bdl_matrix_out y) {
  return guard(__func__, [&] {
    with_rows(dataset, [&](DataSet& data) {
      check_numbers(rows, count, data.rows());
      if (given(x)) check_output(x, count, data.inputs(), "x");
      if (given(y)) check_output(y, count, data.targets(), "y");
      check_apart({{"x", x}, {"y", y}});
      Buffer<double> x_buffer, y_buffer;
      const auto x_columns = memory_for(x_buffer, data.inputs(), count, x),
                 y_columns = memory_for(y_buffer, data.targets(), count, y);
      data.fetch(ConstSpan<Index>(rows, static_cast<std::size_t>(count)), {}, x_columns, y_columns);
      if (x_columns.data) scatter<double>(x_columns, x);
      if (y_columns.data) scatter<double>(y_columns, y);
    });
  });
}
