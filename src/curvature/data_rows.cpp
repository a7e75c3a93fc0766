#include "curvature/data_rows.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/interrupt.hpp"
#include "network/graph.hpp"

namespace bdl {
namespace {

/// Largest number of rows of a chunk: their Gram matrix is affordable, and products run at full speed.
constexpr Index most_rows_of_chunk = 2048;
/// Largest size of a chunk of a custom model, whose rows have D numbers each.
constexpr Index most_bytes_of_chunk = Index{1} << 26;

/// Returns the bytes that one example needs in a forward and backward pass, or for the rows of a user's
/// model.
template <class T>
Index bytes_of_example(const Model<T>& model, Index rows) {
  Index numbers = model.parameters() * rows;
  if (const Graph<T>* const graph = model.graph()) {
    numbers = 0;
    for (std::size_t w = 0; w < graph->wires(); ++w)
      numbers += graph->wire(static_cast<Index>(w)).size * (1 + rows);
  }
  return numbers * static_cast<Index>(sizeof(T));
}

template <class T>
ConstSpan<T> rows_from(ConstSpan<T> w, Index first, Index count) {
  return w.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

}  // namespace

template <class T>
Index DataChunks<T>::examples_of(const Model<T>& model, CurvatureKind kind, Index examples) {
  const BatchSize example{1, 1, kind};
  const Index rows = make_estimator(model)->cost(example).count, by_rows = most_rows_of_chunk / rows,
              by_bytes = most_bytes_of_chunk / bytes_of_example(model, rows);
  return std::clamp<Index>(std::min(by_rows, by_bytes), 1, examples);
}

template <class T>
DataChunks<T>::DataChunks(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds,
                          Index most)
    : model_(model),
      estimator_(make_estimator(model)),
      theta_(theta.data(), static_cast<Index>(theta.size()), 1),
      data_(data),
      seeds_(seeds),
      examples_(examples_of(model, seeds.kind, std::min(most, data.rows()))),
      x_columns_(model.inputs() * examples_),
      y_columns_(model.likelihood.columns() * examples_) {}

template <class T>
Estimate<T> DataChunks<T>::estimate(const IndexRange& some, Index k) {
  check_interrupt();
  const Index first = some.first + k * examples_, count = std::min(examples_, some.end - first);
  const auto x = x_columns_.matrix(data_.inputs(), count), y = y_columns_.matrix(data_.targets(), count);
  data_.fetch({first, count}, model_.standardization, x, y);
  SeedSpec seeds = seeds_;
  seeds.labels.step += static_cast<std::uint64_t>(k);
  seeds.labels.sample += static_cast<std::uint32_t>(some.first);
  return estimator_->estimate(theta_, x, y, seeds);
}

template class DataChunks<float>;
template class DataChunks<double>;

template <class T>
DataSums<T>::DataSums(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds,
                      Index most)
    : chunks_(model, theta, data, seeds, most),
      kind_(seeds.kind),
      data_rows_(data.rows()),
      rows_of_example_(chunks_.estimator().cost({1, 1, kind_}).count) {
  check_row_count(static_cast<double>(data_rows_) * static_cast<double>(rows_of_example_));
}

template <class T>
void DataSums<T>::write_weights(const IndexRange& some, std::span<T> all) {
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    std::ranges::copy(estimate.w, all.begin() + first);
  });
}

template <class T>
void DataSums<T>::sum_squares(const IndexRange& some, ConstSpan<T> w, std::span<T> out) {
  part_.reserve(std::ssize(out));
  const auto part = part_.first(std::ssize(out));
  std::ranges::fill(out, T(0));
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    estimate.rows->sum_squares(rows_from(w, first, estimate.rows->count()), part);
    std::ranges::transform(part, out, out.begin(), std::plus<>());
  });
}

template <class T>
void DataSums<T>::project(const IndexRange& some, ConstMatrixView<T> u, MatrixView<T> all) {
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    estimate.rows->project(u, all.columns(first, estimate.rows->count()));
  });
}

template <class T>
void DataSums<T>::combine(const IndexRange& some, ConstMatrixView<T> w, MatrixView<T> out) {
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
void DataSums<T>::add_outer(const IndexRange& some, ConstSpan<T> w, MatrixView<double> out) {
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    estimate.rows->add_outer(rows_from(w, first, estimate.rows->count()), out);
  });
}

template <class T>
void DataSums<T>::add_block(const IndexRange& some, const IndexRange& parameters, ConstSpan<T> w,
                            MatrixView<double> out) {
  chunks_.for_each(some, [&](const Estimate<T>& estimate, Index first) {
    Rows<T>& rows = estimate.rows->part(parameters.first, parameters.count());
    rows.add_outer(rows_from(w, first, rows.count()), out);
  });
}

template class DataSums<float>;
template class DataSums<double>;

template <class T>
bool DataRows<T>::has_gram(const Model<T>& model, CurvatureKind kind, Index examples) {
  return DataChunks<T>::examples_of(model, kind, examples) == examples;
}

template <class T>
DataRows<T>::DataRows(const Model<T>& model, ConstSpan<T> theta, DataSet& data, const SeedSpec& seeds)
    : sums_(model, theta, data, seeds), all_{0, data.rows()} {
  const DataChunks<T>& chunks = sums_.chunks();
  cost_ = sums_.cost_of_chunk();
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
  if (chunks.count() > 1) return Rows<T>::gram(out);
  chunks.estimate(all_, 0).rows->gram(out);
}

template class DataRows<float>;
template class DataRows<double>;

}  // namespace bdl
