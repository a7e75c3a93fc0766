#include "curvature/data_rows.hpp"

#include <algorithm>
#include <limits>

#include "base/interrupt.hpp"
#include "base/plan.hpp"

namespace bdl {
namespace {

/// Rows of one chunk: up to here their Gram matrix is affordable, and products are at full speed.
constexpr Index most_rows_of_chunk = 2048;
/// A user's model has rows of D numbers.
constexpr Index most_bytes_of_chunk = Index{1} << 26;

constexpr BatchSize one_example{1, 1, CurvatureKind::gauss_newton};

template <class T>
Index bytes_of_example(const Model<T>& model) {
  const MemoryPlan plan;
  const auto estimator = make_estimator(model);
  estimator->reserve(one_example, {false, estimator->cost(one_example).count, 0});
  return plan.bytes();
}

template <class T>
Index examples_of_chunk(const Model<T>& model, Index examples) {
  const Index by_rows = most_rows_of_chunk / make_estimator(model)->cost(one_example).count,
              by_bytes = most_bytes_of_chunk / bytes_of_example(model);
  return std::clamp<Index>(std::min(by_rows, by_bytes), 1, examples);
}

}  // namespace

template <class T>
bool DataRows<T>::has_gram(const Model<T>& model, Index examples) {
  return examples_of_chunk(model, examples) == examples;
}

template <class T>
DataRows<T>::DataRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, double weight,
                      ConstSpan<double> statistics)
    : model_(model),
      estimator_(make_estimator(model)),
      theta_(theta.data(), static_cast<Index>(theta.size()), 1),
      data_(data),
      weight_(weight),
      statistics_(statistics) {
  rows_of_example_ = estimator_->cost(one_example).count;
  examples_ = examples_of_chunk(model, data.rows());
  check_row_count(static_cast<double>(data.rows()) * static_cast<double>(rows_of_example_));
  cost_ = estimator_->cost({examples_, 1, CurvatureKind::gauss_newton});
  const auto parts = static_cast<double>(chunks());
  cost_.count = data.rows() * rows_of_example_;
  cost_.product_flops *= parts;
  if (chunks() > 1) cost_.gram_flops = std::numeric_limits<double>::infinity();
  x_columns_.reserve(model.inputs() * examples_);
  y_columns_.reserve(model.likelihood.targets() * examples_);
  weights_.reserve(cost_.count);
  for_each_chunk([&](const Estimate<T>& estimate, Index first) {
    std::ranges::copy(estimate.w, weights_.data() + first);
  });
}

template <class T>
Estimate<T> DataRows<T>::estimate(Index chunk) {
  check_interrupt();
  const Index first = chunk * examples_, count = std::min(examples_, data_.rows() - first);
  const auto x = x_columns_.matrix(data_.inputs(), count), y = y_columns_.matrix(data_.targets(), count);
  data_.fetch({first, count}, model_.standardization, x, y);
  return estimator_->estimate(theta_, x, y,
                              {CurvatureKind::gauss_newton, weight_, 0, nullptr, false, {statistics_, {}}});
}

/// visit(estimate, number of its first row).
template <class T>
template <class Visit>
void DataRows<T>::for_each_chunk(Visit&& visit) {
  for (Index chunk = 0, first = 0; chunk < chunks(); ++chunk) {
    const Estimate<T> part = estimate(chunk);
    visit(part, first);
    first += part.rows->count();
  }
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
  for_each_chunk([&](const Estimate<T>& estimate, Index first) {
    estimate.rows->sum_squares({w.data() + first, static_cast<std::size_t>(estimate.rows->count())}, part);
    std::ranges::transform(part, out, out.begin(), std::plus<>());
  });
}

template <class T>
void DataRows<T>::gram(MatrixView<double> out) {
  if (chunks() > 1)
    fail(Status::ERROR_UNSUPPORTED,
         "%lld rows are too many for the Gram matrix of a whole data set (option eigen_method)",
         static_cast<long long>(count()));
  estimate(0).rows->gram(out);
}

template <class T>
void DataRows<T>::project(ConstMatrixView<T> u, MatrixView<T> out) {
  for_each_chunk([&](const Estimate<T>& estimate, Index first) {
    estimate.rows->project(u, out.columns(first, estimate.rows->count()));
  });
}

template <class T>
void DataRows<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  part_.reserve(dimension() * w.cols);
  const auto part = part_.matrix(dimension(), w.cols);
  for (Index k = 0; k < w.cols; ++k) std::ranges::fill(out.column(k), T(0));
  for_each_chunk([&](const Estimate<T>& estimate, Index first) {
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
  for_each_chunk([&](const Estimate<T>& estimate, Index first) {
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
    all_.for_each_chunk([&](const Estimate<T>& estimate, Index first) {
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
