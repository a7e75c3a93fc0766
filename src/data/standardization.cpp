#include "data/standardization.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace bdl {
namespace {

/// Rows converted to double at a time.
constexpr Index block_rows = 256;

/// Sums over numbers that are no NaN.
struct Sums {
  double count = 0, sum = 0, square = 0;
  void operator+=(const Sums& other) {
    count += other.count;
    sum += other.sum;
    square += other.square;
  }
};

/// Of deviations from `center`.
Sums sums_around(double center, ConstSpan<double> values) {
  Sums sums;
  for (const double value : values) {
    const bool is_there = !std::isnan(value);
    const double deviation = is_there ? value - center : 0;
    sums += {is_there ? 1.0 : 0.0, deviation, deviation * deviation};
  }
  return sums;
}

/// The same for groups of `together` columns, row by row and block by block: rounding errors grow with what
/// is added at a time.
std::vector<Sums> sums_around(const Array& array, const std::vector<double>& center, std::size_t together) {
  std::vector<Sums> total(center.size());
  const Index most = std::min(block_rows, array.rows);
  Buffer<double> block(array.cols * most);
  for (Index first = 0; first < array.rows; first += most) {
    const auto rows = block.matrix(array.cols, std::min(most, array.rows - first));
    gather(array, first, rows);
    std::vector<Sums> part(center.size());
    for (Index i = 0; i < rows.cols; ++i)
      for (std::size_t g = 0; g < center.size(); ++g)
        part[g] += sums_around(center[g], rows.column(i).subspan(g * together, together));
    for (std::size_t g = 0; g < center.size(); ++g) total[g] += part[g];
  }
  return total;
}

/// Of the row's columns from `column` on; NaN if they have none.
double first_number(const Array& array, Index row, Index column, Index together) {
  double value = element(array, row, column);
  for (Index c = 1; c < together && std::isnan(value); ++c) value = element(array, row, column + c);
  return value;
}

/// The first number of each group of columns: deviations of a constant from it are 0 exactly.
std::vector<double> first_numbers(const Array& array, Index together) {
  std::vector<double> first(static_cast<std::size_t>(array.cols / together));
  for (std::size_t g = 0; g < first.size(); ++g)
    for (Index i = 0; i < array.rows; ++i)
      if (const double value = first_number(array, i, static_cast<Index>(g) * together, together);
          !std::isnan(value)) {
        first[g] = value;
        break;
      }
  return first;
}

std::vector<double> each_repeated(const std::vector<double>& values, std::size_t times) {
  std::vector<double> all;
  all.reserve(values.size() * times);
  for (const double value : values) all.insert(all.end(), times, value);
  return all;
}

}  // namespace

/// Two passes, the second of which corrects for what rounding has left in the mean.
ColumnMoments moments_of_columns(const Array& array, Index together) {
  const auto times = static_cast<std::size_t>(together);
  std::vector<double> mean = first_numbers(array, together), scale(mean.size(), 1.0);
  const std::vector<Sums> shift = sums_around(array, mean, times);
  for (std::size_t g = 0; g < mean.size(); ++g)
    if (shift[g].count > 0) mean[g] += shift[g].sum / shift[g].count;
  const std::vector<Sums> sums = sums_around(array, mean, times);
  for (std::size_t g = 0; g < mean.size(); ++g) {
    const auto& [n, sum, square] = sums[g];
    if (n == 0) continue;
    const double deviation = std::sqrt((square - sum * sum / n) / n);
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(mean[g]);
    const bool constant = deviation <= std::max(rounding, smallest_scale);  // false for NaN: squares overflow
    if (!constant) scale[g] = deviation;
  }
  return {each_repeated(mean, times), each_repeated(scale, times)};
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
