#include "curvature/data_rows.hpp"

#include <algorithm>
#include <limits>

namespace bdl {

template <class T>
bool DataRows<T>::has_gram(const Model<T>& model, Index examples) {
  return DataChunks<T>::examples_of(model, CurvatureKind::gauss_newton, examples) == examples;
}

template <class T>
DataRows<T>::DataRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, double weight,
                      ConstSpan<double> statistics)
    : chunks_(model, theta, data,
              {CurvatureKind::gauss_newton, weight, 0, nullptr, false, {statistics, {}}}) {
  const Estimator<T>& estimator = chunks_.estimator();
  const Index rows_of_example = estimator.cost({1, 1, CurvatureKind::gauss_newton}).count;
  check_row_count(static_cast<double>(data.rows()) * static_cast<double>(rows_of_example));
  cost_ = estimator.cost({chunks_.examples(), 1, CurvatureKind::gauss_newton});
  const auto parts = static_cast<double>(chunks_.count());
  cost_.count = data.rows() * rows_of_example;
  cost_.product_flops *= parts;
  if (chunks_.count() > 1) cost_.gram_flops = std::numeric_limits<double>::infinity();
  weights_.reserve(cost_.count);
  chunks_.for_each([&](const Estimate<T>& estimate, Index first) {
    std::ranges::copy(estimate.w, weights_.data() + first);
  });
}

template <class T>
void DataRows<T>::sum(ConstSpan<T> c, std::span<T> out) {
  combine({c.data(), count(), 1}, {out.data(), dimension(), 1});
}

template <class T>
void DataRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out) {
  part_.reserve(dimension());
  const auto part = part_.first(dimension());
  std::ranges::fill(out, T(0));
  chunks_.for_each([&](const Estimate<T>& estimate, Index first) {
    estimate.rows->sum_squares({w.data() + first, static_cast<std::size_t>(estimate.rows->count())}, part);
    std::ranges::transform(part, out, out.begin(), std::plus<>());
  });
}

template <class T>
void DataRows<T>::gram(MatrixView<double> out) {
  if (chunks_.count() > 1)
    fail(Status::ERROR_UNSUPPORTED,
         "%lld rows are too many for the Gram matrix of a whole data set (option eigen_method)",
         static_cast<long long>(count()));
  chunks_.estimate(0).rows->gram(out);
}

template <class T>
void DataRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  chunks_.for_each([&](const Estimate<T>& estimate, Index first) {
    estimate.rows->project(u, out.columns(first, estimate.rows->count()));
  });
}

template <class T>
void DataRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  part_.reserve(dimension() * w.cols);
  const auto part = part_.matrix(dimension(), w.cols);
  for (Index k = 0; k < w.cols; ++k) std::ranges::fill(out.column(k), T(0));
  chunks_.for_each([&](const Estimate<T>& estimate, Index first) {
    const Index rows = estimate.rows->count();
    slice_.reserve(rows * w.cols);
    const auto slice = slice_.matrix(rows, w.cols);
    for (Index k = 0; k < w.cols; ++k) std::copy_n(w.column_data(k) + first, rows, slice.column_data(k));
    estimate.rows->combine(slice, part);
    for (Index k = 0; k < w.cols; ++k)
      std::ranges::transform(part.column(k), out.column(k), out.column(k).begin(), std::plus<>());
  });
}

template <class T>
void DataRows<T>::add_outer(ConstSpan<T> w, MatrixView<double> out) {
  chunks_.for_each([&](const Estimate<T>& estimate, Index first) {
    estimate.rows->add_outer({w.data() + first, static_cast<std::size_t>(estimate.rows->count())}, out);
  });
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
    all_.chunks_.for_each([&](const Estimate<T>& estimate, Index first) {
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
