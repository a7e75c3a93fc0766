// fill_normal as a sample: moments, distribution function, tails, and independence within and between
// streams.
#include <algorithm>

#include "rng_test.hpp"

namespace bdl::testing {
namespace {

const StreamKey base{1, Stream::posterior_sample, 10, 2};

template <class T>
void test_moments(void**) {
  constexpr Index count = 1 << 21;
  double sum[5] = {};
  for (const double x : normals<T>(base, 0, count)) {
    double power = 1;
    for (int k = 1; k <= 4; ++k) sum[k] += power *= x;
  }
  // The k-th moment has variance E x^2k - (E x^k)^2 over the count.
  const double n = count;
  assert_standard("mean", sum[1] / std::sqrt(n));
  assert_standard("variance", (sum[2] - n) / std::sqrt(2 * n));
  assert_standard("third moment", sum[3] / std::sqrt(15 * n));
  assert_standard("fourth moment", (sum[4] - 3 * n) / std::sqrt(96 * n));
}

/// Kolmogorov-Smirnov: P(sqrt(n) D > x) -> 2 exp(-2 x^2).
template <class T>
void test_distribution_function(void**) {
  auto x = normals<T>(base, 0, 1 << 20);
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double below = static_cast<double>(i) / n, probability = std::erfc(-x[i] / std::sqrt(2.0)) / 2;
    distance = std::max({distance, probability - below, below + 1 / n - probability});
  }
  const double critical = std::sqrt(std::log(2 / false_alarm_rate) / 2);
  assert_true(std::sqrt(n) * distance < critical);
}

/// P(X <= count) for a Poisson variable, zero for a negative count.
double poisson_distribution(std::int64_t count, double mean) {
  double sum = 0;
  for (std::int64_t k = 0; k <= count; ++k) {
    const auto real = static_cast<double>(k);
    sum += std::exp(real * std::log(mean) - mean - std::lgamma(real + 1));
  }
  return sum;
}

template <class T>
void test_tails(void**) {
  constexpr Index piece = 1 << 16, pieces = 1 << 9;
  const double limits[] = {3, 4, 5};
  std::int64_t above[3] = {}, below[3] = {};
  std::vector<T> x(piece);
  for (Index p = 0; p < pieces; ++p) {
    fill_normal<T>(base, p * piece, x);
    for (int k = 0; k < 3; ++k) {
      const auto limit = static_cast<T>(limits[k]);
      above[k] += std::count_if(x.begin(), x.end(), [=](T value) { return value > limit; });
      below[k] += std::count_if(x.begin(), x.end(), [=](T value) { return value < -limit; });
    }
  }
  for (int k = 0; k < 3; ++k)
    for (const auto count : {above[k], below[k]}) {
      const double mean = static_cast<double>(piece * pieces) * std::erfc(limits[k] / std::sqrt(2.0)) / 2;
      assert_true(poisson_distribution(count, mean) > false_alarm_rate / 2);
      assert_true(1 - poisson_distribution(count - 1, mean) > false_alarm_rate / 2);
    }
}

/// Correlation of x and y, and of their squares.
template <class T>
void assert_uncorrelated(const char* what, std::span<const T> x, std::span<const T> y) {
  double product = 0, square_product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = x[i], b = y[i];
    product += a * b;
    square_product += (a * a - 1) * (b * b - 1);
  }
  const double root = std::sqrt(static_cast<double>(x.size()));
  assert_standard(what, product / root);
  assert_standard(what, square_product / (2 * root));
}

template <class T>
void test_neighbours_within_a_stream(void**) {
  const auto x = normals<T>(base, 0, (1 << 20) + 4);
  const std::span<const T> all(x);
  for (std::size_t lag = 1; lag <= 4; ++lag)
    assert_uncorrelated<T>("lag", all.first(1 << 20), all.subspan(lag, 1 << 20));
}

template <class T>
void test_neighbouring_streams(void**) {
  const std::uint64_t carry = std::uint64_t{1} << 32;
  const struct {
    const char* what;
    StreamKey key;
  } neighbours[] = {
      {"seed", {base.seed + 1, base.stream, base.step, base.sample}},
      {"high half of the seed", {base.seed + carry, base.stream, base.step, base.sample}},
      {"stream", {base.seed, Stream::shuffle, base.step, base.sample}},
      {"step", {base.seed, base.stream, base.step + 1, base.sample}},
      {"high half of the step", {base.seed, base.stream, base.step + carry, base.sample}},
      {"sample", {base.seed, base.stream, base.step, base.sample + 1}},
      {"step and sample", {base.seed, base.stream, base.step - 1, base.sample + 1}},
  };
  const auto x = normals<T>(base, 0, 1 << 20);
  for (const auto& neighbour : neighbours)
    assert_uncorrelated<T>(neighbour.what, x, normals<T>(neighbour.key, 0, 1 << 20));
}

/// Numbers at one place of many streams are a sample, too: steps that use a few numbers each depend on it.
template <class T>
void test_across_steps_and_samples(void**) {
  constexpr Index steps = 1 << 13;
  double by_step[2] = {}, by_sample[2] = {};
  for (Index i = 0; i < steps; ++i) {
    const double x = normals<T>({base.seed, base.stream, static_cast<std::uint64_t>(i), 0}, 0, 1)[0];
    const double y = normals<T>({base.seed, base.stream, 0, static_cast<std::uint32_t>(i)}, 0, 1)[0];
    by_step[0] += x, by_step[1] += x * x - 1;
    by_sample[0] += y, by_sample[1] += y * y - 1;
  }
  const double root = std::sqrt(static_cast<double>(steps));
  assert_standard("mean over steps", by_step[0] / root);
  assert_standard("variance over steps", by_step[1] / (std::sqrt(2.0) * root));
  assert_standard("mean over samples", by_sample[0] / root);
  assert_standard("variance over samples", by_sample[1] / (std::sqrt(2.0) * root));
}

}  // namespace
}  // namespace bdl::testing

int test_normal_distribution() {
  using namespace bdl::testing;
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_moments<float>),
      cmocka_unit_test(test_moments<double>),
      cmocka_unit_test(test_distribution_function<float>),
      cmocka_unit_test(test_distribution_function<double>),
      cmocka_unit_test(test_tails<float>),
      cmocka_unit_test(test_tails<double>),
      cmocka_unit_test(test_neighbours_within_a_stream<float>),
      cmocka_unit_test(test_neighbours_within_a_stream<double>),
      cmocka_unit_test(test_neighbouring_streams<float>),
      cmocka_unit_test(test_neighbouring_streams<double>),
      cmocka_unit_test(test_across_steps_and_samples<float>),
      cmocka_unit_test(test_across_steps_and_samples<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
