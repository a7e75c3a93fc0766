#include "data/row_blocks.hpp"

namespace bdl {
namespace {

constexpr Index rows_together = 256;

}  // namespace

RowBlockReader::RowBlockReader(DataSet& data, const Standardization& units, const RowExtras& extras,
                               bool of_inputs, bool of_targets)
    : data_(data),
      units_(units),
      extras_(extras),
      of_inputs_(of_inputs),
      of_targets_(of_targets),
      most_(std::min(rows_together, data.rows())),
      weights_(static_cast<std::size_t>(most_), 1.0) {}

RowBlock RowBlockReader::read(Index first, Index count) {
  const bool reads_x = of_inputs_ || (of_targets_ && extras_.offsets > 0),
             reads_y = of_targets_ || extras_.has_weight;
  const Index features = data_.inputs() - extras_.offsets,
              targets = data_.targets() - (extras_.has_weight ? 1 : 0);
  const auto x = reads_x ? x_.matrix(data_.inputs(), count) : MatrixView<double>(),
             y = reads_y ? y_.matrix(data_.targets(), count) : MatrixView<double>();
  data_.fetch({first, count}, units_, x, y);
  for (Index i = 0; i < count; ++i) {
    if (extras_.has_weight) weights_[static_cast<std::size_t>(i)] = y(targets, i);
    for (Index c = 0; c < extras_.offsets && of_targets_; ++c) y(c, i) -= x(features + c, i);
  }
  return {of_inputs_ ? x.block(0, 0, features, count) : MatrixView<double>(nullptr, 0, count),
          of_targets_ ? y.block(0, 0, targets, count) : MatrixView<double>(nullptr, 0, count),
          ConstSpan<double>(weights_).first(static_cast<std::size_t>(count))};
}

}  // namespace bdl
