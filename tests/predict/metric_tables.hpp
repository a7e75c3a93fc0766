// Shared by the tests of metrics: tables of doubles, every way to store them, random ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "metrics/metrics.hpp"

// Last: its macro fail() would break the headers above.
#include <setjmp.h>
extern "C" {
#include <cmocka.h>
}

namespace bdl::testing {

struct Table {
  Index rows, cols;
  std::vector<double> values;  // by rows

  Table(Index rows_, Index cols_, std::vector<double> values_ = {})
      : rows(rows_), cols(cols_), values(values_) {
    values.resize(static_cast<std::size_t>(rows * cols));
  }
  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i * cols + j)]; }
  double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
  Array array() const { return bdl_f64(values.data(), rows, cols); }
  OutArray out() { return bdl_f64_out(values.data(), rows, cols); }
};

inline Table column(std::vector<double> values) {
  const auto rows = static_cast<Index>(values.size());
  return {rows, 1, std::move(values)};
}

inline void assert_near(double got, double expected, double tolerance) {
  if (!(std::abs(got - expected) <= tolerance))
    fail_msg("got %.17g, expected %.17g within %g", got, expected, tolerance);
}

using Metric1 = std::function<double(const Array&)>;
using Metric2 = std::function<double(const Array&, const Array&)>;

/// Passes the table to the metric as T with these strides; what lies between the elements is poison.
template <class T>
double stored_as(const Table& table, Index row_stride, Index col_stride, const Metric1& metric) {
  const Index reach = (table.rows - 1) * std::abs(row_stride) + (table.cols - 1) * std::abs(col_stride);
  const T poison =
      std::is_integral_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::quiet_NaN();
  std::vector<T> memory(static_cast<std::size_t>(reach + 1), poison);
  T* first = memory.data() + (row_stride < 0 ? (1 - table.rows) * row_stride : 0) +
             (col_stride < 0 ? (1 - table.cols) * col_stride : 0);
  for (Index i = 0; i < table.rows; ++i)
    for (Index j = 0; j < table.cols; ++j)
      first[i * row_stride + j * col_stride] = static_cast<T>(table(i, j));
  const auto dtype = std::is_same_v<T, float> ? BDL_F32 : std::is_same_v<T, double> ? BDL_F64 : BDL_I32;
  return metric(bdl_strided(first, dtype, table.rows, table.cols, row_stride, col_stride));
}

template <class T>
void in_every_layout(const Table& table, const Metric1& metric, double expected) {
  const Index rows = table.rows, cols = table.cols;
  const Index strides[][2] = {{cols, 1},         {1, rows},  {3 * cols + 1, 3},
                              {2, 2 * rows + 3}, {-cols, 1}, {1, -rows}};
  for (const auto& [row_stride, col_stride] : strides)
    assert_near(stored_as<T>(table, row_stride, col_stride, metric), expected, 1e-12);
}

template <class T>
void in_every_type_and_layout(const Table& table, const Metric1& metric, double expected) {
  in_every_layout<T>(table, metric, expected);
  if constexpr (!std::is_same_v<T, double>) in_every_layout<double>(table, metric, expected);
  if constexpr (std::is_same_v<T, std::int32_t>) in_every_layout<float>(table, metric, expected);
}

/// As the tables' values demand: A and B are the narrowest element types that hold them.
template <class A, class B>
void in_every_storage(const Table& a, const Table& b, const Metric2& metric, double expected) {
  in_every_type_and_layout<A>(
      a, [&](const Array& x) { return metric(x, b.array()); }, expected);
  in_every_type_and_layout<B>(
      b, [&](const Array& y) { return metric(a.array(), y); }, expected);
}

// Random data that single precision holds exactly.

class TableRandom {
 public:
  explicit TableRandom(std::uint64_t seed) : engine_(seed) {}
  Index below(Index count) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(count)); }
  /// In the open interval (0, 1).
  double uniform() { return (static_cast<double>(engine_() >> 12) + 0.5) * 0x1p-52; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::mt19937_64 engine_;
};

inline Table random_table(TableRandom& random, Index rows, Index cols, Index range, double unit) {
  Table table(rows, cols);
  for (double& value : table.values) value = static_cast<double>(random.below(2 * range + 1) - range) * unit;
  return table;
}

/// Rows of multiples of 1/64 with sum 1: 64 marbles thrown into K boxes, with ties and zeros.
inline Table random_probabilities(TableRandom& random, Index rows, Index classes) {
  Table table(rows, classes);
  for (Index i = 0; i < rows; ++i)
    for (int marble = 0; marble < 64; ++marble) table(i, random.below(classes)) += 1.0 / 64;
  return table;
}

inline Table random_labels(TableRandom& random, Index rows, Index classes) {
  Table table(rows, 1);
  for (double& value : table.values) value = static_cast<double>(random.below(classes));
  return table;
}

}  // namespace bdl::testing
