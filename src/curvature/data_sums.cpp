#include "curvature/data_sums.hpp"

#include <algorithm>
#include <functional>

namespace bdl {
namespace {

template <class T>
ConstSpan<T> rows_from(ConstSpan<T> w, Index first, Index count) {
  return w.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

}  // namespace

template <class T>
DataSums<T>::DataSums(const Model<T>& model, ConstSpan<T> theta, DataSet& data, double weight,
                      ConstSpan<double> statistics, Index most)
    : chunks_(model, theta, data, {CurvatureKind::gauss_newton, weight, nullptr, false, {statistics, {}}},
              most),
      data_rows_(data.rows()),
      rows_of_example_(chunks_.estimator().cost({1, 1, CurvatureKind::gauss_newton}).count) {
  check_row_count(static_cast<double>(data_rows_) * static_cast<double>(rows_of_example_));
}

template <class T>
void DataSums<T>::write_weights(const ShardRange& some, std::span<T> all) {
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    std::ranges::copy(estimate.w, all.begin() + first);
  });
}

template <class T>
void DataSums<T>::sum_squares(const ShardRange& some, ConstSpan<T> w, std::span<T> out) {
  part_.reserve(std::ssize(out));
  const auto part = part_.first(std::ssize(out));
  std::ranges::fill(out, T(0));
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    estimate.rows->sum_squares(rows_from(w, first, estimate.rows->count()), part);
    std::ranges::transform(part, out, out.begin(), std::plus<>());
  });
}

template <class T>
void DataSums<T>::project(const ShardRange& some, ConstMatrixView<T> u, MatrixView<T> all) {
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    estimate.rows->project(u, all.columns(first, estimate.rows->count()));
  });
}

template <class T>
void DataSums<T>::combine(const ShardRange& some, ConstMatrixView<T> w, MatrixView<T> out) {
  part_.reserve(out.size());
  const auto part = part_.matrix(out.rows, out.cols);
  for (Index k = 0; k < w.cols; ++k) std::ranges::fill(out.column(k), T(0));
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
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
void DataSums<T>::add_outer(const ShardRange& some, ConstSpan<T> w, MatrixView<double> out) {
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    estimate.rows->add_outer(rows_from(w, first, estimate.rows->count()), out);
  });
}

template class DataSums<float>;
template class DataSums<double>;

}  // namespace bdl
