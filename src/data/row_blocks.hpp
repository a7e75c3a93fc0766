// Rows of a data set, a block at a time, in the form in which statistics see them: the network's inputs, the
// targets less their offsets, and the weights.
#pragma once

#include "data/data_set.hpp"

namespace bdl {

/// Rows, one to a column, and their weights.
struct RowBlock {
  MatrixView<double> x, y;
  ConstSpan<double> weights;
};

class RowBlockReader {
 public:
  /// Data and units must outlive it. Without `of_inputs` or `of_targets`, x or y of blocks is empty.
  RowBlockReader(DataSet& data, const Standardization& units, const RowExtras& extras, bool of_inputs,
                 bool of_targets);
  RowBlockReader(DataSet&, Standardization&&, const RowExtras&, bool, bool) = delete;
  /// Returns the largest number of rows of a block.
  Index most() const { return most_; }
  /// Reads consecutive rows; the block is valid until the next call.
  RowBlock read(Index first, Index count);

 private:
  DataSet& data_;
  const Standardization& units_;
  RowExtras extras_;
  bool of_inputs_, of_targets_;
  Index most_;
  Buffer<double> x_, y_;
  std::vector<double> weights_;
};

}  // namespace bdl
