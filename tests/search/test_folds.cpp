// Folds: every row is left out once, sizes differ by at most one, and what trains stands in the documented
// order.
#include "data/folds.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

void rows_are_spread_evenly(void**) {
  for (const Index rows : {2, 7, 100, 101})
    for (const Index folds : {2, 5, 7, 100}) {
      if (folds > rows) continue;
      std::vector<Index> sizes(static_cast<std::size_t>(folds));
      const std::vector<Index> fold = folds_of_rows(rows, folds, 4);
      assert_int_equal(fold.size(), rows);
      for (const Index k : fold) ++sizes.at(static_cast<std::size_t>(k));
      for (const Index size : sizes) assert_true(size == rows / folds || size == rows / folds + 1);
      if (rows == 100 && folds == 5) {
        assert_true(fold == folds_of_rows(rows, folds, 4));
        assert_true(fold != folds_of_rows(rows, folds, 5));
      }
    }
}

/// Every number of rows of fold 0 among the first half is about what chance makes of it: the order is random.
void folds_are_random(void**) {
  int early = 0;
  constexpr int seeds = 400;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<Index> fold = folds_of_rows(20, 2, seed);
    for (std::size_t i = 0; i < 10; ++i) early += fold[i] == 0;
  }
  // Hypergeometric with mean 5 and variance 10 / 4 * 10 / 19 a seed: five standard deviations, 6e-7 by
  // chance.
  assert_true(std::abs(early - 5 * seeds) < 5 * std::sqrt(seeds * 2.5 * 10 / 19));
}

template <class T>
void data_stand_in_order(void**) {
  constexpr Index rows = 11, folds = 3;
  std::vector<double> x(rows * 2);
  std::vector<std::int32_t> y(rows);
  for (Index i = 0; i < rows; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<double>(i);  // column-major: element (i, 0), then (i, 1)
    x[static_cast<std::size_t>(rows + i)] = static_cast<double>(100 + i);
    y[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i);
  }
  const FoldedData<T> data(bdl_column_major(x.data(), BDL_F64, rows, 2), bdl_i32(y.data(), rows, 1), folds,
                           6);
  const std::vector<Index> fold = folds_of_rows(rows, folds, 6);
  const auto rows_of = [&](Index k, std::vector<Index>& out) {
    for (Index i = 0; i < rows; ++i)
      if (fold[static_cast<std::size_t>(i)] == k) out.push_back(i);
  };
  const auto assert_rows = [&](const Array& inputs, const Array& targets,
                               const std::vector<Index>& expected) {
    assert_int_equal(inputs.rows, expected.size());
    assert_int_equal(targets.rows, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto row = static_cast<Index>(i);
      const auto number = static_cast<double>(expected[i]);
      assert_true(element(inputs, row, 0) == number && element(inputs, row, 1) == 100 + number);
      assert_true(element(targets, row, 0) == number);
    }
  };
  for (Index k = 0; k < folds; ++k) {
    std::vector<Index> test, train;
    rows_of(k, test);
    for (Index other = 1; other < folds; ++other) rows_of((k + other) % folds, train);
    assert_rows(data.x_test(k), data.y_test(k), test);
    assert_rows(data.x_train(k), data.y_train(k), train);
  }
}

}  // namespace

int test_folds() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_spread_evenly),
      cmocka_unit_test(folds_are_random),
      cmocka_unit_test(data_stand_in_order<float>),
      cmocka_unit_test(data_stand_in_order<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
