#include "data/moments.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "data/row_blocks.hpp"

namespace bdl {
namespace {

/// Number of rows that target_range() reads at a time.
constexpr Index block_rows = 256;

/// Adds rows `row` to row + together - 1 of the block, whose columns have these weights.
void add_block(MatrixView<double> block, Index row, Index together, ConstSpan<double> weights,
               RunningMoments& all) {
  const auto for_numbers = [&](auto visit) {
    for (Index j = 0; j < block.cols; ++j) {
      const double weight = weights[static_cast<std::size_t>(j)];
      for (Index i = row; i < row + together && weight > 0; ++i)
        if (!std::isnan(block(i, j))) visit(block(i, j), weight);
    }
  };
  RunningMoments block_moments;
  double sum = 0;
  for_numbers([&](double value, double weight) {
    if (all.count == 0 && block_moments.count == 0) all.pivot = value;
    block_moments.count += weight;
    sum += weight * (value - all.pivot);
  });
  if (block_moments.count == 0) return;
  block_moments.shift = sum / block_moments.count;
  double rest = 0;  // rounding error of the mean
  for_numbers([&](double value, double weight) {
    const double deviation = value - all.pivot - block_moments.shift;
    rest += weight * deviation;
    block_moments.square += weight * deviation * deviation;
  });
  block_moments.shift += rest / block_moments.count;
  block_moments.square -= rest * rest / block_moments.count;
  if (block_moments.square < 0) block_moments.square = 0;  // stays NaN if squares overflow
  all.merge(block_moments);
}

void add_block(MatrixView<double> block, Index together, ConstSpan<double> weights,
               std::vector<RunningMoments>& all) {
  for (std::size_t g = 0; g < all.size(); ++g)
    add_block(block, static_cast<Index>(g) * together, together, weights, all[g]);
}

}  // namespace

void RunningMoments::merge(const RunningMoments& other) {
  if (count == 0) {
    count = other.count, shift = other.shift, square = other.square;
    return;
  }
  const double sum = count + other.count, fraction = other.count / sum, gap = other.shift - shift;
  shift += fraction * gap;
  square += other.square + gap * gap * count * fraction;
  count = sum;
}

DataMoments moments_of(DataSet& data, const Standardization& units, const MomentsSpec& spec,
                       DataMoments out) {
  const RowExtras& extras = spec.extras;
  const Index features = spec.of_inputs ? data.inputs() - extras.offsets : 0,
              targets = spec.of_targets ? data.targets() - (extras.has_weight ? 1 : 0) : 0;
  out.inputs.resize(static_cast<std::size_t>(features / spec.together));
  out.targets.resize(static_cast<std::size_t>(targets));
  RowBlockReader reader(data, units, extras, spec.of_inputs, spec.of_targets);
  for (Index first = 0; first < data.rows(); first += reader.most()) {
    if (first > 0) check_interrupt();
    const RowBlock block = reader.read(first, std::min(reader.most(), data.rows() - first));
    add_block(block.x, spec.together, block.weights, out.inputs);
    add_block(block.y, 1, block.weights, out.targets);
  }
  return out;
}

namespace {

double deviation_of(const RunningMoments& moments) {
  return moments.count > 0 ? std::sqrt(moments.square / moments.count) : 0;
}

}  // namespace

bool is_constant(const RunningMoments& moments) {
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(moments.mean());
  return deviation_of(moments) <= std::max(rounding, smallest_scale);
}

ColumnMoments column_moments(const std::vector<RunningMoments>& moments, Index together) {
  ColumnMoments out;
  const auto times = static_cast<std::size_t>(together);
  for (const RunningMoments& of : moments) {
    out.mean.insert(out.mean.end(), times, of.mean());
    out.scale.insert(out.scale.end(), times, is_constant(of) ? 1 : deviation_of(of));
  }
  return out;
}

ColumnMoments moments_of_targets(const std::vector<RunningMoments>& moments) {
  ColumnMoments out = column_moments(moments, 1);
  for (std::size_t c = 0; c < moments.size(); ++c)
    if (moments[c].count > 1 && is_constant(moments[c])) out.scale[c] = scale_of_constant(out.mean[c]);
  return out;
}

namespace {

void add_row(ConstSpan<double> y, Index row, TargetRange& range) {
  for (std::size_t c = 0; c < y.size(); ++c) {
    if (!std::isfinite(y[c]))
      fail(Status::ERROR_NOT_FINITE, "y is not finite at row %lld, column %zu (counting from 0)",
           static_cast<long long>(row), c);
    range.smallest[c] = std::min(range.smallest[c], y[c]);
    range.largest[c] = std::max(range.largest[c], y[c]);
  }
}

}  // namespace

TargetRange target_range(DataSet& data) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto targets = static_cast<std::size_t>(data.targets());
  TargetRange range{std::vector<double>(targets, infinity), std::vector<double>(targets, -infinity)};
  const Index most = std::min(block_rows, data.rows());
  Buffer<double> y(data.targets() * most);
  for (Index first = 0; first < data.rows(); first += most) {
    if (first > 0) check_interrupt();
    const Index count = std::min(most, data.rows() - first);
    const auto block = y.matrix(data.targets(), count);
    data.fetch({first, count}, {}, MatrixView<double>(nullptr, 0, count), block);
    for (Index j = 0; j < count; ++j) add_row(block.column(j), first + j, range);
  }
  return range;
}

}  // namespace bdl
