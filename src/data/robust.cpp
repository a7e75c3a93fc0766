#include "data/robust.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/interrupt.hpp"
#include "data/row_blocks.hpp"

namespace bdl {
namespace {

/// Most rows of which medians are taken.
constexpr Index most_rows = 100000;

/// Standard deviation of a normal distribution whose median absolute deviation is 1.
constexpr double normal_deviation = 1.482602218505602;

/// Returns the number of the first `rows` rows that are used, of all `of` rows.
Index used(Index rows, Index of) {
  const double spacing = std::max(1.0, static_cast<double>(of) / static_cast<double>(most_rows));
  return static_cast<Index>(static_cast<double>(rows) / spacing);
}

/// Calls take(i, c, y, weight) for target c of each row i that is not missing and counts.
template <class Take>
void each_target(DataSet& data, const Standardization& units, const RowExtras& extras, Take take) {
  RowBlockReader reader(data, units, extras, false, true);
  for (Index first = 0; first < data.rows(); first += reader.most()) {
    if (first > 0) check_interrupt();
    const RowBlock block = reader.read(first, std::min(reader.most(), data.rows() - first));
    for (Index i = 0; i < block.y.cols; ++i)
      for (Index c = 0; c < block.y.rows; ++c)
        if (const double weight = block.weights[static_cast<std::size_t>(i)];
            !std::isnan(block.y(c, i)) && weight > 0)
          take(first + i, static_cast<std::size_t>(c), block.y(c, i), weight);
  }
}

/// A number and how often it counts.
struct Weighted {
  double value, weight;
};

/// Returns the numbers of each target in the rows that are used.
std::vector<std::vector<Weighted>> numbers_of_targets(DataSet& data, const Standardization& units,
                                                      const RowExtras& extras) {
  const Index rows = data.rows(), targets = data.targets() - (extras.has_weight ? 1 : 0);
  std::vector<std::vector<Weighted>> numbers(static_cast<std::size_t>(targets));
  for (auto& column : numbers) column.reserve(static_cast<std::size_t>(std::min(rows, most_rows)));
  each_target(data, units, extras, [&](Index i, std::size_t c, double y, double weight) {
    if (used(i + 1, rows) > used(i, rows)) numbers[c].push_back({y, weight});
  });
  return numbers;
}

/// Returns the median, and changes the order of the numbers; 0 if there are none.
double median_of(std::vector<Weighted>& numbers) {
  std::ranges::sort(numbers, {}, &Weighted::value);
  double all = 0, below = 0;
  for (const Weighted& number : numbers) all += number.weight;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    below += numbers[i].weight;
    if (2 * below > all) return numbers[i].value;
    if (2 * below == all && i + 1 < numbers.size())
      return std::midpoint(numbers[i].value, numbers[i + 1].value);
  }
  return numbers.empty() ? 0 : numbers.back().value;
}

}  // namespace

ColumnMoments robust_moments_of_targets(DataSet& data, const Standardization& units,
                                        const RowExtras& extras) {
  ColumnMoments out;
  for (std::vector<Weighted>& numbers : numbers_of_targets(data, units, extras)) {
    const double median = median_of(numbers);
    for (Weighted& number : numbers) number.value = std::abs(number.value - median);
    const double deviation = normal_deviation * median_of(numbers),
                 rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(median);
    out.mean.push_back(median);
    out.scale.push_back(deviation > std::max(rounding, smallest_scale) ? deviation : 0);
  }
  return out;
}

double farthest_of_targets(DataSet& data, const RowExtras& extras) {
  const ColumnMoments robust = robust_moments_of_targets(data, {}, extras);
  double farthest = 0;
  each_target(data, {}, extras, [&](Index, std::size_t c, double y, double) {
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
