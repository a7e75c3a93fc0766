#include "data/target_range.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace bdl {
namespace {

constexpr Index rows_together = 256;  // that are read at a time

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
  const Index most = std::min(rows_together, data.rows());
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
