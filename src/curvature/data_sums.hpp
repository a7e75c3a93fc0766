// What the Gauss-Newton rows of some examples of a data set add up to, at one parameter vector: the rows are
// made anew for each operation, a chunk at a time.
#pragma once

#include "curvature/data_chunks.hpp"

namespace bdl {

/// Weights, and columns of matrices, go by the numbers of rows among those of all examples.
template <class T>
class DataSums {
 public:
  /// Everything must outlive it. Every example counts `weight` times. No chunk has more than `most` examples.
  DataSums(const Model<T>& model, ConstSpan<T> theta, DataSet& data, double weight,
           ConstSpan<double> statistics, Index most = row_limit);

  DataChunks<T>& chunks() { return chunks_; }
  const DataChunks<T>& chunks() const { return chunks_; }
  Index rows() const { return data_rows_ * rows_of_example_; }
  /// Of some examples.
  ShardRange rows_of(const ShardRange& some) const {
    return {some.first * rows_of_example_, some.end * rows_of_example_};
  }

  /// w_r of some rows, into their places among all.
  void write_weights(const ShardRange& some, std::span<T> all);
  void sum_squares(const ShardRange& some, ConstSpan<T> w, std::span<T> out);
  void project(const ShardRange& some, ConstMatrixView<T> u, MatrixView<T> all);
  void combine(const ShardRange& some, ConstMatrixView<T> w, MatrixView<T> out);
  void add_outer(const ShardRange& some, ConstSpan<T> w, MatrixView<double> out);

 private:
  DataChunks<T> chunks_;
  Index data_rows_, rows_of_example_;
  Buffer<T> part_, slice_;
};

}  // namespace bdl
