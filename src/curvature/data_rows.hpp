// Curvature rows of a whole data set at one parameter vector. They are computed anew for each operation,
// a chunk of examples at a time, so memory grows with the data only by a few numbers per row. DataChunks
// computes chunks, DataSums adds up sums over a range of examples, DataRows are the rows of all examples.
#pragma once

#include "curvature/estimator.hpp"
#include "data/data_set.hpp"

namespace bdl {

template <class T>
class DataChunks {
 public:
  /// All arguments must outlive it. Labels that are drawn from the model differ between chunks. No chunk has
  /// more than `most` examples.
  DataChunks(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds,
             Index most = row_limit);
  /// Returns the number of examples in a chunk when there are `examples` in all.
  static Index examples_of(const Model<T>& model, CurvatureKind kind, Index examples);

  Index count() const { return (data_.rows() + examples_ - 1) / examples_; }
  Index examples() const { return examples_; }
  DataSet& data() const { return data_; }
  ConstMatrixView<T> theta() const { return theta_; }
  Estimator<T>& estimator() const { return *estimator_; }
  /// Returns the targets of the last chunk, which had so many examples.
  ConstMatrixView<T> targets(Index count) const { return y_columns_.matrix(data_.targets(), count); }
  /// Estimates the k-th chunk of a range of examples.
  Estimate<T> estimate(const IndexRange& some, Index k);
  /// Calls visit(estimate, number of its first row) for each chunk.
  template <class Visit>
  void for_each(Visit&& visit) {
    for_each({0, data_.rows()}, visit);
  }
  /// Calls visit() for each chunk of a range of examples; the chunks start at its first example.
  template <class Visit>
  void for_each(const IndexRange& some, Visit&& visit) {
    for (Index k = 0; k * examples_ < some.count(); ++k) {
      const Estimate<T> part = estimate(some, k);
      const Index first = some.first + k * examples_, seen = std::min(examples_, some.end - first);
      visit(part, first * (part.rows->count() / seen));
    }
  }

 private:
  const Model<T>& model_;
  std::unique_ptr<Estimator<T>> estimator_;
  ConstMatrixView<T> theta_;
  DataSet& data_;
  SeedSpec seeds_;
  Index examples_;
  Buffer<T> x_columns_, y_columns_;
};

/// Sums over a range of the examples; weights and matrix columns are numbered like the rows of all
/// examples.
template <class T>
class DataSums {
 public:
  /// All arguments must outlive it. No chunk has more than `most` examples.
  DataSums(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds,
           Index most = row_limit);

  DataChunks<T>& chunks() { return chunks_; }
  const DataChunks<T>& chunks() const { return chunks_; }
  Index rows() const { return data_rows_ * rows_of_example_; }
  /// Returns the cost of the rows of one chunk.
  RowsCost cost_of_chunk() const { return chunks_.estimator().cost({chunks_.examples(), 1, kind_}); }
  /// Returns the rows of a range of examples.
  IndexRange rows_of(const IndexRange& some) const {
    return {some.first * rows_of_example_, some.end * rows_of_example_};
  }

  /// Writes the weights w_r of these rows to their places among those of all rows.
  void write_weights(const IndexRange& some, std::span<T> all);
  void sum_squares(const IndexRange& some, ConstSpan<T> w, std::span<T> out);
  void project(const IndexRange& some, ConstMatrixView<T> u, MatrixView<T> all);
  void combine(const IndexRange& some, ConstMatrixView<T> w, MatrixView<T> out);
  void add_outer(const IndexRange& some, ConstSpan<T> w, MatrixView<double> out);
  void add_block(const IndexRange& some, const IndexRange& parameters, ConstSpan<T> w,
                 MatrixView<double> out);

 private:
  DataChunks<T> chunks_;
  CurvatureKind kind_;
  Index data_rows_, rows_of_example_;
  Buffer<T> part_, slice_;
};

template <class T>
class DataRows final : public Rows<T> {
 public:
  /// All arguments must outlive it.
  DataRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds);

  /// True if so many examples fit one chunk, so that gram() works.
  static bool has_gram(const Model<T>& model, CurvatureKind kind, Index examples);

  /// Returns the weights w_r of all rows.
  ConstSpan<T> weights() const { return weights_.first(cost_.count); }

  Index dimension() const override { return sums_.chunks().theta().rows; }
  Index count() const override { return cost_.count; }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override { sums_.sum_squares(all_, w, out); }
  /// Fails unless all examples fit one chunk (has_gram()).
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override { sums_.project(all_, u, out); }
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override { sums_.combine(all_, w, out); }
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override { sums_.add_outer(all_, w, out); }
  /// Adds sum_r w_r b_r b_r^T of a range of the parameters, a block on its diagonal.
  void add_block(const IndexRange& parameters, ConstSpan<T> w, MatrixView<double> out) {
    sums_.add_block(all_, parameters, w, out);
  }
  RowsCost cost() const override { return cost_; }

 private:
  DataSums<T> sums_;
  IndexRange all_;
  RowsCost cost_;
  Buffer<T> weights_;
};

}  // namespace bdl
