#include "curvature/data_rows.hpp"

#include <limits>

namespace bdl {

template <class T>
bool DataRows<T>::has_gram(const Model<T>& model, Index examples) {
  return DataChunks<T>::examples_of(model, CurvatureKind::gauss_newton, examples) == examples;
}

template <class T>
DataRows<T>::DataRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, double weight,
                      ConstSpan<double> statistics)
    : sums_(model, theta, data, weight, statistics), all_{0, data.rows()} {
  const DataChunks<T>& chunks = sums_.chunks();
  cost_ = chunks.estimator().cost({chunks.examples(), 1, CurvatureKind::gauss_newton});
  cost_.count = sums_.rows();
  cost_.product_flops *= static_cast<double>(chunks.count());
  if (chunks.count() > 1) cost_.gram_flops = std::numeric_limits<double>::infinity();
  weights_.reserve(cost_.count);
  sums_.write_weights(all_, weights_.first(cost_.count));
}

template <class T>
void DataRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count(), 1}, {out.data(), dimension(), 1});
}

template <class T>
void DataRows<T>::gram(MatrixView<double> out) {
  DataChunks<T>& chunks = sums_.chunks();
  if (chunks.count() > 1)
    fail(Status::ERROR_UNSUPPORTED,
         "%lld rows are too many for the Gram matrix of a whole data set (option eigen_method)",
         static_cast<long long>(count()));
  chunks.estimate(all_, 0).rows->gram(out);
}

/// Made anew for each operation, too.
template <class T>
class DataRows<T>::Part final : public Rows<T> {
 public:
  Part(DataRows& all, Index offset, Index size) : all_(all), offset_(offset), size_(size) {}
  Index dimension() const override { return size_; }
  Index count() const override { return all_.count(); }
  RowsCost cost() const override { return all_.cost(); }
  void add_outer(ConstSpan<T> w, MatrixView<double> out) override {
    all_.sums_.chunks().for_each([&](const Estimate<T>& estimate, Index first) {
      Rows<T>& rows = estimate.rows->part(offset_, size_);
      rows.add_outer({w.data() + first, static_cast<std::size_t>(rows.count())}, out);
    });
  }
  void sum(ConstSpan<T>, std::span<T>) override { fail_unknown(); }
  void sum_squares(ConstSpan<T>, std::span<T>) override { fail_unknown(); }
  void gram(MatrixView<double>) override { fail_unknown(); }
  void project(ConstMatrixView<T>, MatrixView<T>) override { fail_unknown(); }
  void combine(ConstMatrixView<T>, MatrixView<T>) override { fail_unknown(); }
  void write_row(Index, Index, std::span<T>) const override { fail_unknown(); }
  Rows<T>& part(Index, Index) override { fail_unknown(); }

 private:
  [[noreturn]] static void fail_unknown() {
    fail(Status::ERROR_INTERNAL, "a part of a data set's rows has sums of outer products only");
  }
  DataRows& all_;
  Index offset_, size_;
};

template <class T>
void DataRows<T>::write_row(Index, Index, std::span<T>) const {
  fail(Status::ERROR_INTERNAL, "single rows of a data set are not at hand");
}

template <class T>
Rows<T>& DataRows<T>::part(Index offset, Index size) {
  part_of_all_ = std::make_unique<Part>(*this, offset, size);
  return *part_of_all_;
}

template class DataRows<float>;
template class DataRows<double>;

}  // namespace bdl
