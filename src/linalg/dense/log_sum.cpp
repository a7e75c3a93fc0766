#include "linalg/dense/log_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "parallel/parallel.hpp"

namespace bdl {
namespace {

// Significands in [1, 2) multiply to at most 2^128 in each of 8 lanes.
constexpr std::size_t lanes = 8, block = lanes * 128;

/// v = m 2^e for normal positive v.
constexpr int significand_bits = 52;
constexpr std::uint64_t significand = (std::uint64_t{1} << significand_bits) - 1,
                        one = std::uint64_t{1023} << significand_bits;

/// Returns the log of the product of up to `block` positive normal numbers.
template <class T>
BDL_ALWAYS_INLINE double log_of_product(const T* values, std::size_t count) {
  double product[lanes];
  std::int64_t exponent[lanes] = {};
  for (double& lane : product) lane = 1;
  for (std::size_t first = 0; first + lanes <= count; first += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(values[first + lane]));
      exponent[lane] += static_cast<std::int64_t>(bits >> significand_bits) - 1023;
      product[lane] *= std::bit_cast<double>((bits & significand) | one);
    }
  double sum = 0;
  for (std::size_t i = count - count % lanes; i < count; ++i) sum += std::log(static_cast<double>(values[i]));
  for (std::size_t lane = 0; lane < lanes; ++lane)
    sum += std::log(product[lane]) + static_cast<double>(exponent[lane]) * std::numbers::ln2;
  return sum;
}

template <class T>
BDL_ALWAYS_INLINE double sum_of_range(ConstSpan<T> values) {
  double sum = 0;
  for (std::size_t first = 0; first < values.size(); first += block) {
    const std::size_t count = std::min(block, values.size() - first);
    const T* from = values.data() + first;
    std::size_t equal = 0, ordinary = 0;
    for (std::size_t i = 0; i < count; ++i) equal += from[i] == from[0];
    if (equal == count) {
      sum += static_cast<double>(count) * std::log(static_cast<double>(from[0]));
      continue;
    }
    for (std::size_t i = 0; i < count; ++i)
      ordinary += static_cast<double>(from[i]) >= std::numeric_limits<double>::min() &&
                  static_cast<double>(from[i]) <= std::numeric_limits<double>::max();
    if (ordinary == count)
      sum += log_of_product(from, count);
    else
      for (std::size_t i = 0; i < count; ++i) sum += std::log(static_cast<double>(from[i]));
  }
  return sum;
}

}  // namespace

template <class T>
double sum_of_logs(ConstSpan<T> values) {
  constexpr std::size_t most_ranges = 64;
  const auto size = static_cast<Index>(values.size());
  const Index range =
      static_cast<Index>(block) * std::max<Index>(16, (size / static_cast<Index>(most_ranges * block)) + 1);
  double sums[most_ranges] = {}, sum = 0;
  parallel_blocks(size, range, [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      sums[first / range] =
          sum_of_range(values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    });
  });
  for (const double each : sums) sum += each;
  return sum;
}

template double sum_of_logs(ConstSpan<float>);
template double sum_of_logs(ConstSpan<double>);

}  // namespace bdl
