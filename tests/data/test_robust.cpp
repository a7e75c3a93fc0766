// Medians and median absolute deviations of targets, beside those of sorted numbers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "data/robust.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

double sorted_median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const std::size_t n = numbers.size();
  return (numbers[(n - 1) / 2] + numbers[n / 2]) / 2;
}

double sorted_deviation(std::vector<double> numbers) {
  const double median = sorted_median(numbers);
  for (double& number : numbers) number = std::abs(number - median);
  return 1.482602218505602 * sorted_median(numbers);
}

/// Numbers that look random, from -1 to 1.
std::vector<double> numbers(std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = std::sin(1.7 * static_cast<double>(i * i % 9973));
  return out;
}

ColumnMoments robust(const std::vector<double>& y) {
  ArrayData data({}, bdl_f64(y.data(), static_cast<Index>(y.size()), 1));
  return robust_moments_of_targets(data, {});
}

void medians_are_those_of_sorted_numbers(void**) {
  for (const std::size_t n : {1, 2, 5, 300, 1001}) {
    const std::vector<double> y = numbers(n);
    const ColumnMoments got = robust(y);
    assert_near("median", got.mean[0], sorted_median(y), 1e-14);
    assert_near("deviation", got.scale[0], sorted_deviation(y), 1e-14);
  }
}

void outliers_hardly_move_them(void**) {
  std::vector<double> y = numbers(400);
  const ColumnMoments clean = robust(y);
  std::fill_n(y.begin(), 20, 1e8);
  const ColumnMoments got = robust(y);
  assert_true(std::abs(got.mean[0] - clean.mean[0]) < 0.15 && got.scale[0] < 1.2 * clean.scale[0]);
}

void missing_numbers_do_not_count(void**) {
  std::vector<double> y = numbers(100), rest(y.begin() + 30, y.end());
  std::fill_n(y.begin(), 30, std::numeric_limits<double>::quiet_NaN());
  const ColumnMoments got = robust(y);
  assert_near("median", got.mean[0], sorted_median(rest), 1e-14);
  assert_near("deviation", got.scale[0], sorted_deviation(rest), 1e-14);
  std::ranges::fill(y, y[0]);
  assert_true(robust(y).mean[0] == 0 && robust(y).scale[0] == 0);
}

void equal_numbers_have_no_deviation(void**) {
  std::vector<double> y = numbers(99);
  std::fill_n(y.begin(), 50, 7.1);
  ColumnMoments moments{{2.5}, {3.5}};
  replace_by_robust(robust(y), moments);
  assert_true(moments.mean[0] == 2.5 && moments.scale[0] == 3.5);
}

double farthest(const std::vector<double>& y, Index columns) {
  ArrayData data({}, bdl_f64(y.data(), static_cast<Index>(y.size()) / columns, columns));
  return farthest_of_targets(data);
}

void the_farthest_target_is_measured_in_deviations(void**) {
  std::vector<double> y = numbers(350000);
  y[300001] = -5000;  // the medians' rows need not have it
  const ColumnMoments moments = robust(y);
  assert_near("farthest", farthest(y, 1), (moments.mean[0] + 5000) / moments.scale[0], 1e-9);
  assert_true(farthest(std::vector<double>(100, std::numeric_limits<double>::quiet_NaN()), 1) == 0);
  std::vector<double> two(200);  // the first column is 3 but once; the second has a missing number
  for (std::size_t i = 0; i < 100; ++i) two[2 * i] = 3, two[2 * i + 1] = y[i];
  two[0] = 1e6, two[1] = std::numeric_limits<double>::quiet_NaN(), two[21] = 300;
  std::vector<double> second;
  for (std::size_t i = 1; i < 100; ++i) second.push_back(two[2 * i + 1]);
  assert_near("farthest", farthest(two, 2), (300 - sorted_median(second)) / sorted_deviation(second), 1e-9);
}

void of_many_rows_some_are_used(void**) {
  const std::vector<double> y = numbers(350000);
  const ColumnMoments got = robust(y);
  assert_near("median", got.mean[0], sorted_median(y), 0.02);
  assert_near("deviation", got.scale[0] / sorted_deviation(y), 1, 0.02);
}

}  // namespace

int test_robust() {
  const CMUnitTest tests[] = {cmocka_unit_test(medians_are_those_of_sorted_numbers),
                              cmocka_unit_test(outliers_hardly_move_them),
                              cmocka_unit_test(missing_numbers_do_not_count),
                              cmocka_unit_test(equal_numbers_have_no_deviation),
                              cmocka_unit_test(the_farthest_target_is_measured_in_deviations),
                              cmocka_unit_test(of_many_rows_some_are_used)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
