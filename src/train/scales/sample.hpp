// Rows of the data at which a fit looks at the evidence: up to 2048 evenly spaced examples, by which errors
// are averaged, and of these some whose curvature is computed, so that the cost does not grow with the data.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

template <class T>
class EvidenceSample {
 public:
  /// Reads the examples from the shards of all ranks; each rank then holds them all.
  EvidenceSample(Optimizer<T>& optimizer, DataSet& data, Index shards);
  /// Number of all examples of the data, of those here, and of those whose curvature counts.
  Index data_rows() const { return data_rows_; }
  Index rows() const { return rows_; }
  Index curved_rows() const { return curved_; }
  ConstMatrixView<T> x() const { return x_.matrix(inputs_, rows_); }
  ConstMatrixView<T> y() const { return y_.matrix(targets_, rows_); }
  ConstMatrixView<T> curved_x() const { return curved_x_.matrix(inputs_, curved_); }
  ConstMatrixView<T> curved_y() const { return curved_y_.matrix(targets_, curved_); }

 private:
  Index data_rows_ = 0, rows_ = 0, curved_ = 0, inputs_ = 0, targets_ = 0;
  Buffer<T> x_, y_, curved_x_, curved_y_;
};

}  // namespace bdl
