// fill_normal number by number: equal to the scalar reference and to libm, however a range is split.
#include <algorithm>
#include <limits>
#include <random>

#include "rng_test.hpp"
#include "scalar_normal.hpp"

namespace bdl::testing {
namespace {

const StreamKey some_key{0x0123456789abcdef, Stream::posterior_sample, 0x00c0ffee12345678, 42};

constexpr long double pi = 3.14159265358979323846264338327950288L;

template <class T>
constexpr Index stream_length = (Index{16} / static_cast<Index>(sizeof(T))) << 32;

/// Words that reach every edge of the reductions: the ends of both uniforms and of each quadrant.
WordTile edge_words() {
  const std::uint32_t edges[] = {0,          1,          0x1fffffff, 0x20000000, 0x3fffffff, 0x40000000,
                                 0x5fffffff, 0x60000000, 0x7fffffff, 0x80000000, 0x9fffffff, 0xa0000000,
                                 0xb504f333, 0xb504f334, 0xdfffffff, 0xe0000000, 0xfffffeff, 0xffffffff};
  std::mt19937 generator(5);
  WordTile tile;
  for (auto& row : tile.word)
    for (auto& word : row)
      word = generator() % 8 == 0 ? static_cast<std::uint32_t>(generator())
                                  : edges[generator() % std::size(edges)];
  return tile;
}

template <class T>
void test_equals_scalar_reference(void**) {
  constexpr std::size_t per_block = 16 / sizeof(T);
  const WordTile tile = edge_words();
  std::vector<T> expected(tile_blocks * per_block), got(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t j = i / per_block;
    const Words words{tile.word[0][j], tile.word[1][j], tile.word[2][j], tile.word[3][j]};
    expected[i] = scalar_pair(words, static_cast<int>(i % per_block / 2), T{})[i % 2];
    assert_true(std::isfinite(expected[i]));
  }
  for (const Simd simd : available_simd())
    for (std::size_t blocks = step_blocks; blocks <= tile_blocks; blocks += step_blocks) {
      std::fill(got.begin(), got.end(), T{99});
      normal_tile(simd, tile, static_cast<int>(blocks), got.data());
      const auto made = static_cast<std::ptrdiff_t>(blocks * per_block);
      assert_same_bits<T>({got.begin(), got.begin() + made}, {expected.begin(), expected.begin() + made});
      assert_true(std::count(got.begin() + made, got.end(), T{99}) == got.end() - got.begin() - made);
    }
}

template <class T>
void test_stream_equals_scalar_reference(void**) {
  for (const Index offset :
       {Index{0}, Index{1}, Index{1234567}, stream_length<T> / 2 + 3, stream_length<T> - 1001}) {
    std::vector<T> expected(1001);
    for (Index i = 0; i < 1001; ++i)
      expected[static_cast<std::size_t>(i)] = scalar_normal<T>(some_key, offset + i);
    assert_same_bits<T>(normals<T>(some_key, offset, 1001), expected);
  }
}

template <class T>
void test_split_invariance(void**) {
  constexpr Index total = 20000;
  const auto whole = normals<T>(some_key, 77, total);
  std::mt19937 generator(11);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<T> pieces(total, std::numeric_limits<T>::quiet_NaN());
    for (Index done = 0; done < total;) {
      const Index longest = generator() % 2 ? 5 : 3000;
      const Index length = std::min<Index>(generator() % (longest + 1), total - done);
      fill_normal<T>(some_key, 77 + done, std::span<T>(pieces).subspan(done, length));
      done += length;
    }
    assert_same_bits<T>(pieces, whole);
  }
  fill_normal<T>(some_key, stream_length<T>, std::span<T>());
}

/// Nothing outside the span is written, whatever its length and alignment.
template <class T>
void test_stays_inside(void**) {
  for (std::size_t length = 0; length < 600; ++length) {
    std::vector<T> out(length + 2, T{99});
    fill_normal<T>(some_key, 3, std::span<T>(out).subspan(1, length));
    assert_true(out.front() == 99 && out.back() == 99);
    assert_true(std::count(out.begin(), out.end(), T{99}) == 2);
  }
}

/// The numbers that a pair of normals is made of: u, and the angle of quadrant / 4 + turns full turns.
struct ExactPair {
  long double u, turns;
  std::size_t quadrant;

  /// The angle is (fixed + extra) 2^-63 turns.
  ExactPair(long double u_, std::uint64_t fixed, long double extra) : u(u_) {
    const std::uint64_t nearest = (fixed + (std::uint64_t{1} << 60)) >> 61;
    quadrant = nearest % 4;
    turns = (static_cast<long double>(static_cast<std::int64_t>(fixed - (nearest << 61))) + extra) * 0x1p-63L;
  }
};

ExactPair exact_pair(Index pair, float) {
  const auto words = block_words(some_key, static_cast<std::uint32_t>(pair / 2));
  const auto first = static_cast<std::size_t>(pair % 2 * 2);
  return {static_cast<float>((words[first] + 0.5) * 0x1p-32), std::uint64_t{words[first + 1]} << 31, 0x1p30L};
}

ExactPair exact_pair(Index pair, double) {
  const auto words = block_words(some_key, static_cast<std::uint32_t>(pair));
  const std::uint64_t first = words[0] | std::uint64_t{words[1]} << 32;
  return {static_cast<long double>((first >> 11) + 1) * 0x1p-53L,
          std::uint64_t{words[3]} << 31 | words[2] >> 1, 0.5L};
}

/// Relative error against libm's Box-Muller in long double: at most `tolerance` for each of a million
/// normals.
template <class T>
void check_accuracy(long double tolerance) {
  constexpr Index pairs = 500000;
  const auto got = normals<T>(some_key, 0, 2 * pairs);
  long double worst = 0;
  for (Index pair = 0; pair < pairs; ++pair) {
    const ExactPair exact = exact_pair(pair, T{});
    const long double radius = std::sqrt(-2 * std::log(exact.u)), angle = 2 * pi * exact.turns;
    const long double c = radius * std::cos(angle), s = radius * std::sin(angle);
    const long double rotated[] = {c, s, -c, -s};
    const long double expected[] = {rotated[(4 - exact.quadrant) % 4], rotated[(5 - exact.quadrant) % 4]};
    for (std::size_t i = 0; i < 2; ++i) {
      const long double error = std::fabs(got[static_cast<std::size_t>(2 * pair) + i] - expected[i]);
      if (error > 0) worst = std::max(worst, error / std::fabs(expected[i]));
    }
  }
  if (!(worst <= tolerance)) fail_msg("relative error %Lg, expected at most %Lg", worst, tolerance);
}

void test_float_accuracy(void**) {
  check_accuracy<float>(3e-7L);
}
void test_double_accuracy(void**) {
  check_accuracy<double>(1e-15L);
}

/// The largest normals there are, from the smallest uniform and the angle 0.
void test_reach(void**) {
  const WordTile zeros{};
  float single[4 * tile_blocks];
  double twice[2 * tile_blocks];
  normal_tile(Simd::baseline, zeros, tile_blocks, single);
  normal_tile(Simd::baseline, zeros, tile_blocks, twice);
  assert_true(std::fabs(single[0] - std::sqrt(66 * std::log(2.0))) < 1e-6);
  assert_true(std::fabs(twice[0] - std::sqrt(106 * std::log(2.0))) < 1e-14);
}

/// These values may never change: saved seeds would silently mean other numbers.
void test_pinned_values(void**) {
  const StreamKey key{20180101, Stream::posterior_sample, 7, 3};
  const float single[] = {0x1.3d2f6ep-1f,  -0x1.89aaa4p-3f, -0x1.3b8394p-4f, 0x1.9d2ee6p-1f,
                          -0x1.25ddf8p-1f, 0x1.83e4c8p-9f,  -0x1.f36fe4p+0f, -0x1.431bf8p+0f};
  const double twice[] = {-0x1.e7b2b5bc113d3p-6, 0x1.3f557dec063a6p-2,  -0x1.fabf2011f229ep-1,
                          -0x1.47d68ed21ec58p-1, -0x1.8a5b84f674161p-3, -0x1.92d1a7e552212p+0,
                          -0x1.34c35cb4f6694p-1, 0x1.62b19d6ad5629p-1};
  assert_same_bits<float>(normals<float>(key, 0, std::size(single)), single);
  assert_same_bits<double>(normals<double>(key, 0, std::size(twice)), twice);
}

template <class T>
void test_invalid_ranges(void**) {
  std::vector<T> out(5);
  expect_invalid("step is 72057594037927936", [&] {
    fill_normal<T>({0, Stream::user, std::uint64_t{1} << 56, 0}, 0, out);
  });
  expect_invalid("offset is -1", [&] { fill_normal<T>(some_key, -1, out); });
  expect_invalid("5 elements", [&] { fill_normal<T>(some_key, stream_length<T> - 4, out); });
  expect_invalid("5 elements", [&] { fill_normal<T>(some_key, std::numeric_limits<Index>::max(), out); });
  fill_normal<T>(some_key, stream_length<T> - 5, out);
}

}  // namespace
}  // namespace bdl::testing

int test_normal() {
  using namespace bdl::testing;
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_equals_scalar_reference<float>),
      cmocka_unit_test(test_equals_scalar_reference<double>),
      cmocka_unit_test(test_stream_equals_scalar_reference<float>),
      cmocka_unit_test(test_stream_equals_scalar_reference<double>),
      cmocka_unit_test(test_split_invariance<float>),
      cmocka_unit_test(test_split_invariance<double>),
      cmocka_unit_test(test_stays_inside<float>),
      cmocka_unit_test(test_stays_inside<double>),
      cmocka_unit_test(test_float_accuracy),
      cmocka_unit_test(test_double_accuracy),
      cmocka_unit_test(test_reach),
      cmocka_unit_test(test_pinned_values),
      cmocka_unit_test(test_invalid_ranges<float>),
      cmocka_unit_test(test_invalid_ranges<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
