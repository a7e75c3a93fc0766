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

/// The folds that a fold trains on stand in order, the next ones first.
void folds_stand_in_order(void**) {
  constexpr Index rows = 11, folds = 3;
  const Folds parts(rows, folds, 6);
  const std::vector<Index> fold = folds_of_rows(rows, folds, 6);
  const auto append = [&](Index k, std::vector<Index>& out) {
    for (Index i = 0; i < rows; ++i)
      if (fold[static_cast<std::size_t>(i)] == k) out.push_back(i);
  };
  for (Index k = 0; k < folds; ++k) {
    std::vector<Index> test, train;
    append(k, test);
    for (Index other = 1; other < folds; ++other) append((k + other) % folds, train);
    assert_true(std::ranges::equal(parts.test(k), test));
    assert_true(std::ranges::equal(parts.train(k), train));
  }
}

}  // namespace

int test_folds() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_spread_evenly),
      cmocka_unit_test(folds_are_random),
      cmocka_unit_test(folds_stand_in_order),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
