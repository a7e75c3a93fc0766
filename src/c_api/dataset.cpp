#include "bdl/dataset.h"

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/dataset_handle.hpp"
#include "data/callback_data.hpp"
#include "data/target_range.hpp"
#include "io/mapped_data.hpp"

namespace bdl {
namespace {

constexpr Index most_rows = Index{1} << 52, most_columns = blas_limit;

/// As streams of random numbers can tell apart.
constexpr Index most_windows = INT32_MAX;

DataSet& rows_of(const bdl_dataset* dataset) {
  not_null(dataset, "dataset");
  return *dataset->rows;
}

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
  check_range(count, 1, blas_limit, "count");
  for (Index i = 0; i < count; ++i)
    if (rows[i] < 0 || rows[i] >= all)
      fail(Status::ERROR_INVALID_ARGUMENT, "rows[%lld] is %lld, expected 0 to %lld",
           static_cast<long long>(i), static_cast<long long>(rows[i]), static_cast<long long>(all - 1));
}

/// An output of the caller's, or nothing.
MatrixView<double> part_of(Buffer<double>& buffer, Index columns, Index count, const OutArray& out) {
  if (!given(out)) return {};
  buffer.reserve(columns * count);
  return buffer.matrix(columns, count);
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_dataset_from_arrays(bdl_matrix x, bdl_matrix y, bdl_dataset** dataset) {
  return guard("bdl_dataset_from_arrays", [&] {
    not_null(dataset, "dataset");
    check_shape(x, -1, -1, "x");
    if (given(y)) check_shape(y, x.rows, -1, "y");
    *dataset = new bdl_dataset{std::make_unique<ArrayData>(x, y)};
  });
}

bdl_status bdl_dataset_from_callback(int64_t rows, int64_t inputs, int64_t targets, bdl_read_fn read,
                                     void* user_data, void (*destroy)(void* user_data),
                                     bdl_dataset** dataset) {
  return guard("bdl_dataset_from_callback", [&] {
    not_null(dataset, "dataset");
    check_range(rows, 1, most_rows, "rows");
    check_range(inputs, 1, most_columns, "inputs");
    check_range(targets, 0, most_columns, "targets");
    not_null(read, "read");
    auto handle = std::make_unique<bdl_dataset>();
    handle->rows = std::make_unique<CallbackData>(rows, inputs, targets, RowReader{read, user_data, destroy});
    *dataset = handle.release();  // nothing fails once there is what calls destroy
  });
}

bdl_status bdl_dataset_from_npy(const char* x_path, const char* y_path, bdl_dataset** dataset) {
  return guard("bdl_dataset_from_npy", [&] {
    not_null(x_path, "x_path");
    not_null(dataset, "dataset");
    *dataset = new bdl_dataset{map_npy(x_path, y_path)};
  });
}

bdl_status bdl_dataset_from_safetensors(const char* path, const char* x_name, const char* y_name,
                                        bdl_dataset** dataset) {
  return guard("bdl_dataset_from_safetensors", [&] {
    not_null(path, "path");
    not_null(x_name, "x_name");
    not_null(dataset, "dataset");
    *dataset = new bdl_dataset{map_safetensors(path, x_name, y_name)};
  });
}

void bdl_dataset_free(bdl_dataset* dataset) {
  delete dataset;
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
  return guard("bdl_dataset_set_block", [&] {
    DataSet& data = rows_of(dataset);
    const RowBlocks blocks{rows_in_block, window};
    check_blocks(blocks, data.rows());
    data.blocks = blocks;
  });
}

bdl_status bdl_dataset_target_range(bdl_dataset* dataset, bdl_matrix_out smallest, bdl_matrix_out largest) {
  return guard("bdl_dataset_target_range", [&] {
    DataSet& data = rows_of(dataset);
    const Index targets = data.targets();
    if (targets == 0) fail(Status::ERROR_SHAPE, "dataset has 0 columns of y, expected at least 1");
    if (given(smallest)) check_output(smallest, 1, targets, "smallest");
    if (given(largest)) check_output(largest, 1, targets, "largest");
    check_apart({{"smallest", smallest}, {"largest", largest}});
    const TargetRange range = target_range(data);
    if (given(smallest)) write_result<double>({range.smallest.data(), targets, 1}, smallest, "smallest");
    if (given(largest)) write_result<double>({range.largest.data(), targets, 1}, largest, "largest");
  });
}

bdl_status bdl_dataset_read(bdl_dataset* dataset, const int64_t* rows, int64_t count, bdl_matrix_out x,
                            bdl_matrix_out y) {
  return guard("bdl_dataset_read", [&] {
    DataSet& data = rows_of(dataset);
    check_numbers(rows, count, data.rows());
    if (given(x)) check_output(x, count, data.inputs(), "x");
    if (given(y)) check_output(y, count, data.targets(), "y");
    check_apart({{"x", x}, {"y", y}});
    Buffer<double> x_buffer, y_buffer;
    const auto x_part = part_of(x_buffer, data.inputs(), count, x),
               y_part = part_of(y_buffer, data.targets(), count, y);
    data.fetch(ConstSpan<Index>(rows, static_cast<std::size_t>(count)), {}, x_part, y_part);
    if (x_part.data) scatter<double>(x_part, x);
    if (y_part.data) scatter<double>(y_part, y);
  });
}
