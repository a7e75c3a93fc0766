// Gauss-Newton rows of a whole data set at one parameter vector, made anew, some examples at a time, for each
// operation: memory does not grow with the data but for numbers per row.
#pragma once

#include "curvature/data_sums.hpp"

namespace bdl {

template <class T>
class DataRows final : public Rows<T> {
 public:
  /// Everything must outlive it. Every example counts `weight` times.
  DataRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, double weight,
           ConstSpan<double> statistics = {});

  static bool has_gram(const Model<T>& model, Index examples);

  /// w_r of all rows.
  ConstSpan<T> weights() const { return weights_.first(cost_.count); }

  Index dimension() const override { return sums_.chunks().theta().rows; }
  Index count() const override { return cost_.count; }
  void sum(ConstSpan<T> c, std::span<T> out) override;
  void sum_squares(ConstSpan<T> w, std::span<T> out) override { sums_.sum_squares(all_, w, out); }
  /// Where all examples are taken at once (has_gram()); else cost() says that it is beyond reach.
  void gram(MatrixView<double> out) override;
  void project(ConstMatrixView<T> u, MatrixView<T> out) override { sums_.project(all_, u, out); }
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override { sums_.combine(all_, w, out); }
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override { sums_.add_outer(all_, w, out); }
  RowsCost cost() const override { return cost_; }
  /// Not at hand.
  void write_row(Index r, Index first, std::span<T> out) const override;
  /// For sums of outer products.
  Rows<T>& part(Index offset, Index size) override;

 private:
  class Part;
  DataSums<T> sums_;
  ShardRange all_;
  RowsCost cost_;
  std::unique_ptr<Rows<T>> part_of_all_;
  Buffer<T> weights_;
};

}  // namespace bdl
