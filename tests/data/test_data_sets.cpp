// Data by number: arrays of any layout, subsets of subsets, standardised on the way.
#include <cmath>
#include <numeric>

#include "data/data_set.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index rows = 9;

/// x = 10 row + column, column-major; y = -row.
struct Numbers {
  std::vector<double> x, y;
  Numbers() : x(rows * 2), y(rows) {
    for (Index i = 0; i < rows; ++i) {
      x[static_cast<std::size_t>(i)] = static_cast<double>(10 * i);
      x[static_cast<std::size_t>(rows + i)] = static_cast<double>(10 * i + 1);
      y[static_cast<std::size_t>(i)] = static_cast<double>(-i);
    }
  }
  ArrayData data() const {
    return {bdl_column_major(x.data(), BDL_F64, rows, 2), bdl_f64(y.data(), rows, 1)};
  }
};

/// Fetched as T, they are these rows of Numbers by these units.
template <class T>
void assert_rows(DataSet& data, const RowNumbers& examples, const std::vector<Index>& expected,
                 const Standardization& units) {
  assert_int_equal(examples.count(), expected.size());
  Padded<T> x(poison(2, examples.count())), y(poison(1, examples.count()));
  data.fetch(examples, units, x.view(), y.view());
  for (Index j = 0; j < examples.count(); ++j) {
    const auto i = static_cast<double>(expected[static_cast<std::size_t>(j)]);
    for (Index c = 0; c < 2; ++c)
      assert_true(x.get()(c, j) == static_cast<T>(units.inputs().apply(c, 10 * i + static_cast<double>(c))));
    assert_true(y.get()(0, j) == static_cast<T>(units.targets().apply(0, -i)));
  }
}

template <class T>
void rows_come_by_number(void**) {
  const Numbers numbers;
  ArrayData all = numbers.data();
  const std::vector<Index> some{7, 0, 0, 3}, odd{1, 3, 5, 7}, last{3, 1};
  Subset subset(all, odd), inner(subset, last);
  assert_int_equal(all.rows(), rows);
  assert_int_equal(subset.rows(), 4);
  assert_int_equal(inner.rows(), 2);
  assert_int_equal(inner.inputs(), 2);
  assert_int_equal(inner.targets(), 1);
  for (const Standardization& units :
       {Standardization(), Standardization({{40, 41}, {7, 3}}, {{-2}, {0.3}})}) {
    assert_rows<T>(all, {2, 3}, {2, 3, 4}, units);
    assert_rows<T>(all, ConstSpan<Index>(some), some, units);
    assert_rows<T>(subset, {1, 3}, {3, 5, 7}, units);
    const std::vector<Index> two{2, 0};
    assert_rows<T>(subset, ConstSpan<Index>(two), {5, 1}, units);
    assert_rows<T>(inner, {0, 2}, {7, 3}, units);
    assert_rows<T>(inner, ConstSpan<Index>(two).last(1), {7}, units);
  }
}

/// An output without memory is not written.
void inputs_and_targets_come_alone(void**) {
  const Numbers numbers;
  ArrayData all = numbers.data(), targets({}, bdl_f64(numbers.y.data(), rows, 1));
  Padded<double> x(poison(2, 2)), y(poison(1, 2));
  all.fetch({3, 2}, {}, x.view(), MatrixView<double>());
  all.fetch({3, 2}, {}, MatrixView<double>(), y.view());
  assert_true(x.get()(1, 1) == 41 && y.get()(0, 1) == -4);
  assert_int_equal(targets.rows(), rows);
  assert_int_equal(targets.inputs(), 0);
}

}  // namespace

int test_data_sets() {
  const CMUnitTest tests[] = {cmocka_unit_test(rows_come_by_number<float>),
                              cmocka_unit_test(rows_come_by_number<double>),
                              cmocka_unit_test(inputs_and_targets_come_alone)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
