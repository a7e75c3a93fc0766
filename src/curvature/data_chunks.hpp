// A whole data set at one parameter vector, some examples at a time: memory does not grow with the data.
#pragma once

#include "curvature/estimator.hpp"
#include "data/data_set.hpp"

namespace bdl {

template <class T>
class DataChunks {
 public:
  /// Everything must outlive it. Labels that are drawn are other ones in each chunk.
  DataChunks(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds);
  /// Examples of a chunk, of as many.
  static Index examples_of(const Model<T>& model, CurvatureKind kind, Index examples);

  Index count() const { return (data_.rows() + examples_ - 1) / examples_; }
  Index examples() const { return examples_; }
  DataSet& data() const { return data_; }
  ConstMatrixView<T> theta() const { return theta_; }
  Estimator<T>& estimator() const { return *estimator_; }
  Estimate<T> estimate(Index chunk);
  /// visit(estimate, number of its first row).
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Index chunk = 0, first = 0; chunk < count(); ++chunk) {
      const Estimate<T> part = estimate(chunk);
      visit(part, first);
      first += part.rows->count();
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
