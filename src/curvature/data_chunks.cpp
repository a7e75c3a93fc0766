#include "curvature/data_chunks.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "network/graph.hpp"

namespace bdl {
namespace {

/// Rows of one chunk: up to here their Gram matrix is affordable, and products are at full speed.
constexpr Index most_rows_of_chunk = 2048;
/// A user's model has rows of D numbers.
constexpr Index most_bytes_of_chunk = Index{1} << 26;

/// Bytes of an example on its way through a network, forward and backward, or of a user model's rows.
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
      y_columns_(model.likelihood.targets() * examples_) {}

template <class T>
Estimate<T> DataChunks<T>::estimate(const ShardRange& some, Index k) {
  check_interrupt();
  const Index first = some.first + k * examples_, count = std::min(examples_, some.end - first);
  const auto x = x_columns_.matrix(data_.inputs(), count), y = y_columns_.matrix(data_.targets(), count);
  data_.fetch({first, count}, model_.standardization, x, y);
  SeedSpec seeds = seeds_;
  seeds.labels.step += static_cast<std::uint64_t>(k);
  return estimator_->estimate(theta_, x, y, seeds);
}

template class DataChunks<float>;
template class DataChunks<double>;

}  // namespace bdl
