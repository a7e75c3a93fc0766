// The slow reference of fill_normal: one Philox block at a time, ordinary branches, library functions for
// exponents.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "rng/elementary.hpp"
#include "rng/philox.hpp"

namespace bdl::testing {

using Words = std::array<std::uint32_t, 4>;

inline Words block_words(const StreamKey& key, std::uint32_t block) {
  return philox_block(stream_counter(key, block),
                      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
}

template <class T>
T scalar_polynomial(T x, std::span<const T> coefficient) {
  T value = 0;
  for (const T c : coefficient) value = value * x + c;
  return value;
}

template <class T>
T scalar_log(T u) {
  using E = Elementary<T>;
  int k;
  T m = std::frexp(u, &k);
  if (m < std::sqrt(T{0.5})) m *= 2, --k;
  const T f = m - 1, s = f / (2 + f), z = s * s, half_square = f * f / 2;
  const T tail = s * (half_square + z * scalar_polynomial<T>(z, E::log)) + static_cast<T>(k) * E::ln2_low;
  return static_cast<T>(k) * E::ln2_high - ((half_square - tail) - f);
}

/// The cosine and sine of quadrant / 4 + turns full turns.
template <class T>
std::array<T, 2> scalar_direction(unsigned quadrant, T turns) {
  using E = Elementary<T>;
  const T y = E::two_pi * turns, z = y * y;
  const T s = y + y * (z * scalar_polynomial<T>(z, E::sin));
  const T c = 1 - (z / 2 - z * z * scalar_polynomial<T>(z, E::cos));
  switch (quadrant) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

/// The quadrant nearest to the angle of `word` 2^-32 turns, and what remains in units of 2^-32 turns.
struct ScalarAngle {
  unsigned quadrant;
  double rest;

  explicit ScalarAngle(std::uint32_t word) {
    const double nearest = std::floor((word + 0x1p29) * 0x1p-30);
    quadrant = static_cast<unsigned>(nearest) % 4;
    rest = word - nearest * 0x1p30;
  }
};

template <class T>
std::array<T, 2> scalar_box_muller(T u, unsigned quadrant, T turns) {
  const auto [c, s] = scalar_direction(quadrant, turns);
  const T radius = std::sqrt(-2 * scalar_log(u));
  return {radius * c, radius * s};
}

/// Pair 0 or 1 of the normals made of a block.
inline std::array<float, 2> scalar_pair(const Words& words, int pair, float) {
  const std::uint32_t radius_word = pair == 0 ? words[0] : words[2],
                      angle_word = pair == 0 ? words[1] : words[3];
  const ScalarAngle angle(angle_word);
  const auto turns = static_cast<float>((angle.rest + 0.5) * 0x1p-32);
  return scalar_box_muller(static_cast<float>((radius_word + 0.5) * 0x1p-32), angle.quadrant, turns);
}

/// The pair of normals made of a block.
inline std::array<double, 2> scalar_pair(const Words& words, int, double) {
  const std::uint64_t first = words[0] | std::uint64_t{words[1]} << 32;
  const ScalarAngle angle(words[3]);
  const double turns = (angle.rest + ((words[2] >> 1) + 0.5) * 0x1p-31) * 0x1p-32;
  return scalar_box_muller(static_cast<double>((first >> 11) + 1) * 0x1p-53, angle.quadrant, turns);
}

/// Normal number i of a stream.
template <class T>
T scalar_normal(const StreamKey& key, Index i) {
  constexpr Index per_block = 16 / sizeof(T);
  const auto words = block_words(key, static_cast<std::uint32_t>(i / per_block));
  return scalar_pair(words, static_cast<int>(i % per_block / 2), T{})[static_cast<std::size_t>(i % 2)];
}

}  // namespace bdl::testing
