// fill_uniform: open interval, distribution, independence of the split, pinned values.
#include <algorithm>

#include "rng_test.hpp"
#include "scalar_normal.hpp"

namespace bdl::testing {
namespace {

const StreamKey key{20180101, Stream::posterior_sample, 7, 3};

template <class T>
std::vector<T> uniforms(Index offset, Index count, T low, T high) {
  std::vector<T> out(static_cast<std::size_t>(count), std::numeric_limits<T>::quiet_NaN());
  fill_uniform<T>(key, offset, out, low, high);
  return out;
}

template <class T>
void test_open_interval(void**) {
  const T one = 1, next = std::nextafter(one, T{2}), second = std::nextafter(next, T{2}), tiny = T(1e-30);
  const T intervals[][2] = {
      {0, 1}, {-1, 1}, {-3, -2}, {one, second}, {-tiny, tiny}, {T{1e30f}, T{2e30f}}, {1 - tiny, second}};
  for (const auto& [low, high] : intervals)
    for (const T value : uniforms<T>(0, 100000, low, high)) assert_true(low < value && value < high);
  assert_true(uniforms<T>(0, 1, one, second)[0] == next);
}

/// Kolmogorov-Smirnov on (-1, 3), as for the normals.
template <class T>
void test_distribution(void**) {
  auto x = uniforms<T>(0, 1 << 20, -1, 3);
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double below = static_cast<double>(i) / n, probability = (static_cast<double>(x[i]) + 1) / 4;
    distance = std::max({distance, probability - below, below + 1 / n - probability});
  }
  assert_true(std::sqrt(n) * distance < std::sqrt(std::log(2 / false_alarm_rate) / 2));
}

/// The leading bits of word i (float) or of words 2 i and 2 i + 1, low word first (double).
void test_words(void**) {
  const auto single = uniforms<float>(0, 1000, 0, 1);
  const auto twice = uniforms<double>(0, 500, 0, 1);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const auto words = block_words(key, i / 4);
    assert_true(single[i] == std::floor(words[i % 4] / 512.0) * 0x1p-23 + 0x1p-24);
    const double pair = words[i % 4 | 1] * 0x1p20 + std::floor(words[i % 4 & 2] / 4096.0);
    assert_true(twice[i / 2] == pair * 0x1p-52 + 0x1p-53);
  }
}

template <class T>
void test_split_invariance(void**) {
  const auto whole = uniforms<T>(5, 3000, -2, 7);
  for (const Index length : {1, 2, 3, 129, 256, 1001}) {
    std::vector<T> pieces;
    for (Index done = 0; done < 3000; done += length) {
      const auto piece = uniforms<T>(5 + done, std::min<Index>(length, 3000 - done), -2, 7);
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    assert_same_bits<T>(pieces, whole);
  }
}

void test_pinned_values(void**) {
  assert_same_bits<float>(uniforms<float>(0, 8, 0, 1),
                          std::vector<float>{0x1.9ede0ap-1f, 0x1.e77bcap-1f, 0x1.709bbep-1f, 0x1.0f8264p-2f,
                                             0x1.b23e5ep-1f, 0x1.ff28e4p-2f, 0x1.1364fp-4f, 0x1.2ecacap-1f});
  assert_same_bits<double>(
      uniforms<double>(0, 8, 0, 1),
      std::vector<double>{0x1.e77bc91f9ede1p-1, 0x1.0f8261a6e1376p-2, 0x1.ff28e1a3647cap-2,
                          0x1.2ecac97e226c9p-1, 0x1.237a460aee152p-2, 0x1.7613cf3e3e6cfp-1,
                          0x1.4fcdf11f6816bp-1, 0x1.74bc3fbd5edfap-2});
}

template <class T>
void test_invalid(void**) {
  const T infinity = std::numeric_limits<T>::infinity(), largest = std::numeric_limits<T>::max();
  const T next = std::nextafter(T{1}, T{2});
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T intervals[][2] = {{1, 1},   {1, 0},  {1, next}, {0, infinity}, {-infinity, 0}, {-largest, largest},
                            {nan, 1}, {0, nan}};
  for (const auto& ends : intervals) expect_invalid("interval", [&] { uniforms<T>(0, 1, ends[0], ends[1]); });
  expect_invalid("offset is -3", [&] { uniforms<T>(-3, 1, 0, 1); });
  assert_true(uniforms<T>(0, 0, 0, 1).empty());
}

}  // namespace
}  // namespace bdl::testing

int test_uniform() {
  using namespace bdl::testing;
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_open_interval<float>),
      cmocka_unit_test(test_open_interval<double>),
      cmocka_unit_test(test_distribution<float>),
      cmocka_unit_test(test_distribution<double>),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_split_invariance<float>),
      cmocka_unit_test(test_split_invariance<double>),
      cmocka_unit_test(test_pinned_values),
      cmocka_unit_test(test_invalid<float>),
      cmocka_unit_test(test_invalid<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
