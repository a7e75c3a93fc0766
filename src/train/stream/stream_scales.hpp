// The first rows of a stream, kept to learn scales (scale_learning.hpp) until there are enough of them, and
// the columns of x that were constant among those rows.
#pragma once

#include <vector>

#include "data/data_set.hpp"

namespace bdl {

/// Rows that were observed together, and by how many steps time was moved on before them; -1 if it was not.
struct FirstBlock {
  Index rows, moved;
};

/// A column of x that was constant when its scale was chosen, and the number of its values that differ since.
struct LateColumn {
  Index column, values = 0;
};

class StreamScales {
 public:
  /// True while rows are kept.
  bool is_open() const { return is_open_; }
  void open() { is_open_ = true; }
  /// Frees the rows.
  void close() { *this = StreamScales(std::move(late)); }
  /// Notes that time was moved on before the next rows.
  void move_time(Index steps) { moved_ = std::max<Index>(moved_, 0) + steps; }

  /// Keeps all rows, in the caller's units, as one block.
  void add(DataSet& data);
  ConstSpan<FirstBlock> blocks() const { return blocks_; }
  Index moved() const { return moved_; }
  Index rows() const;
  /// Return the rows, one example per column.
  ConstMatrixView<double> x(Index inputs) const { return {x_.data(), inputs, rows()}; }
  ConstMatrixView<double> y(Index targets) const { return {y_.data(), targets, rows()}; }
  void restore(std::vector<FirstBlock> blocks, Index moved, std::vector<double> x, std::vector<double> y);

  std::vector<LateColumn> late;

  StreamScales() = default;

 private:
  explicit StreamScales(std::vector<LateColumn> columns) : late(std::move(columns)) {}
  bool is_open_ = false;
  Index moved_ = -1;
  std::vector<FirstBlock> blocks_;
  std::vector<double> x_, y_;
};

}  // namespace bdl
