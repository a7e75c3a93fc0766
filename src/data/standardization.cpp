#include "data/standardization.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace bdl {
namespace {

/// Rows converted to double at a time.
constexpr Index block_rows = 256;

/// Sums over the numbers of each column, block by block: rounding errors grow with the blocks, not the rows.
struct ColumnSums {
  std::vector<double> count, sum, square;
  explicit ColumnSums(std::size_t columns) : count(columns), sum(columns), square(columns) {}
};

/// Of deviations from `center`.
ColumnSums sums_around(const Array& array, const std::vector<double>& center) {
  ColumnSums total(center.size());
  const Index most = std::min(block_rows, array.rows);
  Buffer<double> block(array.cols * most);
  for (Index first = 0; first < array.rows; first += most) {
    const auto rows = block.matrix(array.cols, std::min(most, array.rows - first));
    gather(array, first, rows);
    ColumnSums part(center.size());
    for (Index i = 0; i < rows.cols; ++i)
      for (std::size_t c = 0; c < center.size(); ++c) {
        const double value = rows.column(i)[c], deviation = value - center[c];
        if (std::isnan(value)) continue;
        ++part.count[c];
        part.sum[c] += deviation;
        part.square[c] += deviation * deviation;
      }
    for (auto sums : {&ColumnSums::count, &ColumnSums::sum, &ColumnSums::square})
      std::ranges::transform(total.*sums, part.*sums, (total.*sums).begin(), std::plus<>());
  }
  return total;
}

/// The first number of each column: deviations of a constant from it are 0 exactly.
std::vector<double> first_numbers(const Array& array) {
  std::vector<double> first(static_cast<std::size_t>(array.cols));
  for (Index c = 0; c < array.cols; ++c)
    for (Index i = 0; i < array.rows; ++i)
      if (const double value = element(array, i, c); !std::isnan(value)) {
        first[static_cast<std::size_t>(c)] = value;
        break;
      }
  return first;
}

}  // namespace

/// Two passes, the second of which corrects for what rounding has left in the mean.
ColumnMoments moments_of_columns(const Array& array) {
  std::vector<double> mean = first_numbers(array), scale(mean.size(), 1.0);
  const ColumnSums shift = sums_around(array, mean);
  for (std::size_t c = 0; c < mean.size(); ++c)
    if (shift.count[c] > 0) mean[c] += shift.sum[c] / shift.count[c];
  const ColumnSums sums = sums_around(array, mean);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const double n = sums.count[c];
    if (n == 0) continue;
    const double deviation = std::sqrt((sums.square[c] - sums.sum[c] * sums.sum[c] / n) / n);
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(mean[c]);
    const bool constant = deviation <= std::max(rounding, smallest_scale);  // false for NaN: squares overflow
    if (!constant) scale[c] = deviation;
  }
  return {std::move(mean), std::move(scale)};
}

bool Standardization::is_isotropic() const {
  return std::ranges::adjacent_find(targets_.scale, std::not_equal_to<>()) == targets_.scale.end();
}

double Standardization::log_scale() const {
  double sum = 0;
  for (const double scale : targets_.scale) sum += std::log(scale);
  return sum;
}

template <class T>
double Standardization::log_scale(const T* y) const {
  double sum = 0;
  for (std::size_t c = 0; c < targets_.scale.size(); ++c)
    if (!std::isnan(y[c])) sum += std::log(targets_.scale[c]);
  return sum;
}

template double Standardization::log_scale(const float*) const;
template double Standardization::log_scale(const double*) const;

}  // namespace bdl
