#include "io/file_array.hpp"

#include <algorithm>

#include "base/loop_turns.hpp"

namespace bdl {
namespace {

constexpr Index part_of_row = 512;  // 4 kB of stack

ColumnScales part_of(const ColumnScales& scales, Index first, Index count) {
  if (!scales.given()) return scales;
  const auto begin = static_cast<std::size_t>(first), size = static_cast<std::size_t>(count);
  return {scales.mean.subspan(begin, size), scales.scale.subspan(begin, size)};
}

/// Numbers are converted to doubles, a part of a row at a time, and gathered from there.
template <class T, class RowOf>
void gather_rows(const FileArray& array, MatrixView<T> out, const ColumnScales& scales, RowOf row_of) {
  const Index step = array.offset(0, 1);
  double part[part_of_row];
  LoopTurns turn;
  for (Index j = 0; j < out.cols; ++j)
    for (Index c = 0; c < out.rows; c += part_of_row) {
      const Index count = std::min(part_of_row, out.rows - c);
      turn(count);
      array.type->read(array.data + array.offset(row_of(j), c), step, count, array.is_swapped, part);
      gather(bdl_f64(part, 1, count), 0, out.block(c, j, count, 1), part_of(scales, c, count));
    }
}

}  // namespace

FileArray rows_in_order(const std::byte* data, const ElementType& type, bool is_swapped,
                        std::span<const Index> shape) {
  if (shape.empty()) fail(Status::ERROR_FORMAT, "the array is a single number, expected one example a row");
  Index columns = 1;
  for (const Index length : shape.subspan(1)) columns *= length;
  return {data, &type, is_swapped, shape[0], columns, columns, 1};
}

Array as_array_in_memory(const FileArray& array) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(array.data) % array.type->width == 0;
  const bool is_same = !array.is_swapped || array.type->width == 1;
  if (!array.type->dtype_in_memory || !is_aligned || !is_same) return {};
  return {array.data,      array.type->dtype_in_memory, 0, array.rows, array.cols, array.row_stride,
          array.col_stride};
}

template <class T>
void gather(const FileArray& array, ConstSpan<Index> rows, MatrixView<T> out, const ColumnScales& scales) {
  gather_rows(array, out, scales, [&](Index j) { return rows[static_cast<std::size_t>(j)]; });
}

template <class T>
void gather(const FileArray& array, Index first, MatrixView<T> out, const ColumnScales& scales) {
  gather_rows(array, out, scales, [&](Index j) { return first + j; });
}

template void gather(const FileArray&, ConstSpan<Index>, MatrixView<float>, const ColumnScales&);
template void gather(const FileArray&, ConstSpan<Index>, MatrixView<double>, const ColumnScales&);
template void gather(const FileArray&, Index, MatrixView<float>, const ColumnScales&);
template void gather(const FileArray&, Index, MatrixView<double>, const ColumnScales&);

}  // namespace bdl
