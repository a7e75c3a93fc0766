// A whole data set at one parameter vector, some examples at a time: memory does not grow with the data.
#pragma once

#include "curvature/estimator.hpp"
#include "data/data_set.hpp"
#include "parallel/shards.hpp"

namespace bdl {

template <class T>
class DataChunks {
 public:
  /// Everything must outlive it. Labels that are drawn are other ones in each chunk. Of more than `most`
  /// examples, no chunk is ever made.
  DataChunks(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds,
             Index most = row_limit);
  /// Examples of a chunk, of as many.
  static Index examples_of(const Model<T>& model, CurvatureKind kind, Index examples);

  Index count() const { return (data_.rows() + examples_ - 1) / examples_; }
  Index examples() const { return examples_; }
  DataSet& data() const { return data_; }
  ConstMatrixView<T> theta() const { return theta_; }
  Estimator<T>& estimator() const { return *estimator_; }
  /// The k-th chunk of some examples.
  Estimate<T> estimate(const ShardRange& some, Index k);
  /// visit(estimate, number of its first row).
  template <class Visit>
  void for_each(Visit&& visit) {
    for_each({0, data_.rows()}, visit);
  }
  /// Of some examples, which have chunks of their own.
  template <class Visit>
  void for_each(const ShardRange& some, Visit&& visit) {
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

}  // namespace bdl
