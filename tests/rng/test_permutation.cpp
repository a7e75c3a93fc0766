// Permutations without memory: bijections whose orders are as random as those of lists.
#include <cmath>
#include <numeric>

#include "rng/permutation.hpp"
#include "rng_test.hpp"

namespace bdl::testing {
namespace {

/// Chi-square with so many degrees of freedom exceeds these with probability 1e-6.
constexpr double critical_99 = 180.79, critical_255 = 377.08;

constexpr Index billion = 1'000'000'000;

StreamKey shuffle(std::uint64_t epoch, std::uint64_t seed = 9) {
  return {seed, Stream::shuffle, epoch, 0};
}

/// Sizes around squares and products, where the halves are full, and where nearly a row of values is left
/// over.
void test_every_element_comes_once(void**) {
  std::vector<Index> sizes(130);
  std::iota(sizes.begin(), sizes.end(), Index{1});
  for (const Index size : {999, 1000, 1023, 1024, 1025, 65536, 65537, 99991, 1000003}) sizes.push_back(size);
  for (const Index size : sizes) {
    const FeistelPermutation permutation(shuffle(3), size);
    std::vector<bool> seen(static_cast<std::size_t>(size), false);
    for (Index place = 0; place < size; ++place) {
      const Index element = permutation[place];
      assert_true(element >= 0 && element < size && !seen[static_cast<std::size_t>(element)]);
      seen[static_cast<std::size_t>(element)] = true;
      if (size < 2000) assert_int_equal(permutation.place_of(element), place);
    }
  }
}

void test_large_ones_can_be_inverted(void**) {
  for (const Index size : {billion, (Index{1} << 52) - 3, Index{1} << 52})
    for (Index place : {Index{0}, Index{1}, size / 3, size - 1}) {
      const FeistelPermutation permutation(shuffle(0), size);
      const Index element = permutation[place];
      assert_true(element >= 0 && element < size);
      assert_int_equal(permutation.place_of(element), place);
    }
}

/// Where a fixed place goes, over epochs and over seeds.
void test_elements_are_uniform(void**) {
  for (const Index place : {Index{0}, Index{123456789}, billion - 1})
    for (const bool over_epochs : {true, false}) {
      std::vector<std::int64_t> counts(100);
      for (std::uint64_t k = 0; k < 20000; ++k) {
        const auto key = over_epochs ? shuffle(k) : shuffle(5, k);
        ++counts[static_cast<std::size_t>(FeistelPermutation(key, billion)[place] / (billion / 100))];
      }
      assert_true(chi_square(counts) < critical_99);
    }
}

/// Neighbours in an epoch, and the same place in neighbouring epochs: their pairs in a grid of 16 x 16.
void test_pairs_are_independent(void**) {
  const auto cell = [](Index a, Index b) {
    return static_cast<std::size_t>(a * 16 / billion * 16 + b * 16 / billion);
  };
  const FeistelPermutation now(shuffle(7), billion), next(shuffle(8), billion);
  for (const Index step : {1, 31623 /* the half's length */, 1000000}) {
    std::vector<std::int64_t> counts(256);
    for (Index i = 0; i < 50000; ++i) ++counts[cell(now[i * 7919], now[i * 7919 + step])];
    assert_true(chi_square(counts) < critical_255);
  }
  std::vector<std::int64_t> counts(256), residues(256);
  for (Index i = 0; i < 50000; ++i) {
    ++counts[cell(now[i], next[i])];
    ++residues[static_cast<std::size_t>(now[i] % 16 * 16 + now[i + 50000] % 16)];
  }
  assert_true(chi_square(counts) < critical_255 && chi_square(residues) < critical_255);
}

/// Correlation with the place, 0 +- 1/sqrt(n): beyond 5 of these with probability 6e-7.
void test_order_is_uncorrelated(void**) {
  constexpr Index size = 200'000;
  const FeistelPermutation permutation(shuffle(1), size);
  const double middle = (size - 1) / 2.0, variance = (static_cast<double>(size) * size - 1) / 12;
  double sum = 0;
  for (Index i = 0; i < size; ++i)
    sum += (static_cast<double>(i) - middle) * (static_cast<double>(permutation[i]) - middle);
  assert_true(std::abs(sum / size / variance) < 5 / std::sqrt(size));
}

void test_short_ones_are_lists(void**) {
  Permutation permutation;
  permutation.reset(shuffle(4), 1000);
  std::vector<Index> list(1000);
  fill_permutation(shuffle(4), list);
  for (Index i = 0; i < 1000; ++i) {
    assert_int_equal(permutation[i], list[static_cast<std::size_t>(i)]);
    assert_int_equal(permutation.place_of(permutation[i]), i);
  }
  permutation.reset(shuffle(4), most_listed + 1);
  const FeistelPermutation computed(shuffle(4), most_listed + 1);
  for (const Index i : {Index{0}, Index{77}, most_listed}) {
    assert_int_equal(permutation[i], computed[i]);
    assert_int_equal(permutation.place_of(permutation[i]), i);
  }
}

}  // namespace
}  // namespace bdl::testing

int test_permutation() {
  using namespace bdl::testing;
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_every_element_comes_once), cmocka_unit_test(test_large_ones_can_be_inverted),
      cmocka_unit_test(test_elements_are_uniform),     cmocka_unit_test(test_pairs_are_independent),
      cmocka_unit_test(test_order_is_uncorrelated),    cmocka_unit_test(test_short_ones_are_lists)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
