// fill_permutation and fill_indices: valid, unbiased, pinned.
#include <algorithm>
#include <numeric>

#include "rng_test.hpp"

namespace bdl::testing {
namespace {

const StreamKey key{20180101, Stream::posterior_sample, 7, 3};

/// Chi-square exceeds these with probability 1e-6.
constexpr double critical_2 = 27.631, critical_6 = 38.258, critical_23 = 70.550, critical_999 = 1226.046;

std::vector<Index> indices(const StreamKey& stream, Index bound, std::size_t count) {
  std::vector<Index> out(count, -1);
  fill_indices(stream, bound, out);
  return out;
}

std::vector<Index> permutation(const StreamKey& stream, std::size_t count) {
  std::vector<Index> out(count, -1);
  fill_permutation(stream, out);
  return out;
}

void test_is_a_permutation(void**) {
  for (const std::size_t count : {0, 1, 2, 3, 129, 1000, 300000}) {
    auto shuffled = permutation(key, count);
    std::vector<Index> identity(count);
    std::iota(identity.begin(), identity.end(), Index{0});
    if (count > 100) assert_true(shuffled != identity);
    std::sort(shuffled.begin(), shuffled.end());
    assert_true(shuffled == identity);
  }
}

void test_permutation_is_unbiased(void**) {
  std::vector<std::int64_t> counts(24);
  for (std::uint64_t step = 0; step < 240000; ++step) {
    auto p = permutation({1, Stream::shuffle, step, 0}, 4);
    Index rank = 0;  // the Lehmer code, which counts the smaller elements to the right
    for (std::size_t i = 0; i < 4; ++i)
      rank = rank * static_cast<Index>(4 - i) + std::count_if(p.begin() + static_cast<std::ptrdiff_t>(i),
                                                              p.end(),
                                                              [&](Index other) { return other < p[i]; });
    ++counts[static_cast<std::size_t>(rank)];
  }
  assert_true(chi_square(counts) < critical_23);
}

/// Where the first element of a long permutation comes from.
void test_long_permutation_is_unbiased(void**) {
  std::vector<std::int64_t> counts(1000);
  for (std::uint64_t step = 0; step < 20000; ++step)
    ++counts[permutation({2, Stream::shuffle, step, 0}, 1000)[0]];
  assert_true(chi_square(counts) < critical_999);
}

void check_bounded(Index bound, double critical) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bound));
  for (const Index index : indices({1, Stream::minibatch, 0, 0}, bound, 1 << 20)) {
    assert_true(index >= 0 && index < bound);
    ++counts[static_cast<std::size_t>(index)];
  }
  assert_true(chi_square(counts) < critical);
}

void test_indices_are_uniform(void**) {
  check_bounded(7, critical_6);
  check_bounded(1000, critical_999);
  for (const Index index : indices(key, 1, 1000)) assert_int_equal(index, 0);
}

/// With a bound of 3/8 of 2^64, only rejection keeps some numbers from coming up more often than others.
void test_large_bound_is_unbiased(void**) {
  const Index bound = Index{3} << 61;
  std::vector<std::int64_t> residues(3), thirds(3);
  for (const Index index : indices(key, bound, 1 << 20)) {
    assert_true(index >= 0 && index < bound);
    ++residues[static_cast<std::size_t>(index % 3)];
    ++thirds[static_cast<std::size_t>(index >> 61)];
  }
  assert_true(chi_square(residues) < critical_2);
  assert_true(chi_square(thirds) < critical_2);
  for (const Index index : indices(key, std::numeric_limits<Index>::max(), 1000)) assert_true(index >= 0);
}

void test_keys_matter(void**) {
  const auto base = permutation(key, 100);
  assert_true(base == permutation(key, 100));
  assert_true(base != permutation({key.seed + 1, key.stream, key.step, key.sample}, 100));
  assert_true(base != permutation({key.seed, Stream::user, key.step, key.sample}, 100));
  assert_true(base != permutation({key.seed, key.stream, key.step + 1, key.sample}, 100));
  assert_true(base != permutation({key.seed, key.stream, key.step, key.sample + 1}, 100));
}

void test_pinned_values(void**) {
  assert_true((permutation(key, 8) == std::vector<Index>{0, 3, 4, 6, 5, 2, 1, 7}));
  assert_true(
      (indices(key, 1000000007, 8) == std::vector<Index>{952116291, 265145805, 499179391, 591390896,
                                                         284646126, 730619889, 655868091, 363999365}));
}

void test_invalid(void**) {
  expect_invalid("bound is 0", [] { indices(key, 0, 1); });
  expect_invalid("bound is -5", [] { indices(key, -5, 1); });
  const StreamKey late{0, Stream::user, std::uint64_t{1} << 56, 0};
  expect_invalid("step is", [&] { indices(late, 3, 1); });
  expect_invalid("step is", [&] { permutation(late, 3); });
  Index none;
  expect_invalid("4294967297 random integers", [&] {
    fill_permutation(key, {&none, (std::size_t{1} << 32) + 1});
  });
}

}  // namespace
}  // namespace bdl::testing

int test_integers() {
  using namespace bdl::testing;
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_is_a_permutation),
      cmocka_unit_test(test_permutation_is_unbiased),
      cmocka_unit_test(test_long_permutation_is_unbiased),
      cmocka_unit_test(test_indices_are_uniform),
      cmocka_unit_test(test_large_bound_is_unbiased),
      cmocka_unit_test(test_keys_matter),
      cmocka_unit_test(test_pinned_values),
      cmocka_unit_test(test_invalid),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
