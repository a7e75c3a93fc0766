#include "data/robust.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/interrupt.hpp"

namespace bdl {
namespace {

/// Number of rows that are read at a time, and most rows of which medians are taken.
constexpr Index rows_together = 256, most_rows = 100000;

/// Standard deviation of a normal distribution whose median absolute deviation is 1.
constexpr double normal_deviation = 1.482602218505602;

/// Returns the number of the first `rows` rows that are used, of all `of` rows.
Index used(Index rows, Index of) {
  const double spacing = std::max(1.0, static_cast<double>(of) / static_cast<double>(most_rows));
  return static_cast<Index>(static_cast<double>(rows) / spacing);
}

/// Calls take(i, c, y) for target c of each row i that is not missing.
template <class Take>
void each_target(DataSet& data, const Standardization& units, Take take) {
  const Index most = std::min(rows_together, data.rows());
  Buffer<double> block(data.targets() * most);
  for (Index first = 0; first < data.rows(); first += most) {
    if (first > 0) check_interrupt();
    const auto y = block.matrix(data.targets(), std::min(most, data.rows() - first));
    data.fetch({first, y.cols}, units, MatrixView<double>(), y);
    for (Index i = 0; i < y.cols; ++i)
      for (Index c = 0; c < y.rows; ++c)
        if (!std::isnan(y(c, i))) take(first + i, static_cast<std::size_t>(c), y(c, i));
  }
}

/// Returns the numbers of each target in the rows that are used.
std::vector<std::vector<double>> numbers_of_targets(DataSet& data, const Standardization& units) {
  const Index rows = data.rows();
  std::vector<std::vector<double>> numbers(static_cast<std::size_t>(data.targets()));
  for (auto& column : numbers) column.reserve(static_cast<std::size_t>(std::min(rows, most_rows)));
  each_target(data, units, [&](Index i, std::size_t c, double y) {
    if (used(i + 1, rows) > used(i, rows)) numbers[c].push_back(y);
  });
  return numbers;
}

/// Returns the median, and changes the order of the numbers. There must be one.
double median_of(std::vector<double>& numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  if (numbers.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(numbers.begin(), middle), *middle);
}

}  // namespace

ColumnMoments robust_moments_of_targets(DataSet& data, const Standardization& units) {
  ColumnMoments out;
  for (std::vector<double>& numbers : numbers_of_targets(data, units)) {
    const double median = numbers.empty() ? 0 : median_of(numbers);
    for (double& number : numbers) number = std::abs(number - median);
    const double deviation = numbers.empty() ? 0 : normal_deviation * median_of(numbers),
                 rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(median);
    out.mean.push_back(median);
    out.scale.push_back(deviation > std::max(rounding, smallest_scale) ? deviation : 0);
  }
  return out;
}

double farthest_of_targets(DataSet& data) {
  const ColumnMoments robust = robust_moments_of_targets(data, {});
  double farthest = 0;
  each_target(data, {}, [&](Index, std::size_t c, double y) {
    if (robust.scale[c] > 0) farthest = std::max(farthest, std::abs(y - robust.mean[c]) / robust.scale[c]);
  });
  return farthest;
}

void replace_by_robust(const ColumnMoments& robust, ColumnMoments& moments) {
  for (std::size_t c = 0; c < moments.mean.size(); ++c) {
    if (robust.scale[c] == 0) continue;
    moments.mean[c] = robust.mean[c];
    moments.scale[c] = robust.scale[c];
  }
}

}  // namespace bdl
