// Box-Muller: sqrt(-2 log u) cos 2 pi v and sqrt(-2 log u) sin 2 pi v are two independent standard normals.
// Unlike rejection methods it uses a fixed number of words per pair, which allows random access and full
// vectors.
#include <cmath>

#include "rng/elementary.hpp"
#include "rng/tile.hpp"

namespace bdl {

namespace {

/// Angle 2 pi v, split as v = quadrant / 4 + rest 2^-32 so that |rest 2^-32| <= 1/8 keeps its relative
/// precision.
struct Angle {
  std::uint32_t quadrant;
  std::int32_t rest;
};

BDL_ALWAYS_INLINE Angle split_angle(std::uint32_t word) {
  const std::uint32_t quadrant = (word + 0x20000000u) >> 30;
  return {quadrant, static_cast<std::int32_t>(word - (quadrant << 30))};
}

/// Radius for u = (word + 1/2) 2^-32, rounded once.
BDL_ALWAYS_INLINE float radius_of(std::uint32_t word) {
  const auto high = static_cast<float>(static_cast<std::int32_t>(word >> 16));
  const auto low = static_cast<float>(static_cast<std::int32_t>(word & 0xffffu));
  return std::sqrt(minus_two_log<32>(high * 0x1p16f + (low + 0.5f)));
}

/// Direction for v = (word + 1/2) 2^-32.
BDL_ALWAYS_INLINE Direction<float> direction_of(std::uint32_t word) {
  const Angle angle = split_angle(word);
  return direction(angle.quadrant,
                   static_cast<float>(2 * angle.rest + 1) * (0x1p-33f * Elementary<float>::two_pi));
}

/// Radius for u = (high 2^21 + low / 2^11 + 1) 2^-53, exact, where low / 2^11 is a whole number.
BDL_ALWAYS_INLINE double radius_of(std::uint32_t low_word, std::uint32_t high_word) {
  const auto high = static_cast<double>(static_cast<std::int32_t>(high_word ^ 0x80000000u)) + 0x1p31;
  const auto low = static_cast<double>(static_cast<std::int32_t>(low_word >> 11));
  return std::sqrt(minus_two_log<53>(high * 0x1p21 + (low + 1.0)));
}

/// Direction for v = (high + (low / 2 + 1/2) 2^-31) 2^-32, rounded once, where low / 2 is a whole number.
BDL_ALWAYS_INLINE Direction<double> direction_of(std::uint32_t low, std::uint32_t high) {
  const Angle angle = split_angle(high);
  const double fraction = (static_cast<double>(static_cast<std::int32_t>(low >> 1)) + 0.5) * 0x1p-31;
  return direction(angle.quadrant,
                   (static_cast<double>(angle.rest) + fraction) * (0x1p-32 * Elementary<double>::two_pi));
}

template <class T>
BDL_ALWAYS_INLINE void store_pair(T radius, Direction<T> direction, T* out) {
  out[0] = radius * direction.cosine;
  out[1] = radius * direction.sine;
}

// Radii and directions are computed in separate loops, whose dependency chains are short enough to overlap.

BDL_ALWAYS_INLINE void normals_of_step(const WordTile& words, int first, float* out) {
  float radius[2][step_blocks];
  for (int pair = 0; pair < 2; ++pair)
    for (int j = 0; j < step_blocks; ++j) radius[pair][j] = radius_of(words.word[2 * pair][first + j]);
  for (int j = 0; j < step_blocks; ++j) {
    store_pair(radius[0][j], direction_of(words.word[1][first + j]), out + 4 * (first + j));
    store_pair(radius[1][j], direction_of(words.word[3][first + j]), out + 4 * (first + j) + 2);
  }
}

BDL_ALWAYS_INLINE void normals_of_step(const WordTile& words, int first, double* out) {
  double radius[step_blocks];
  for (int j = 0; j < step_blocks; ++j)
    radius[j] = radius_of(words.word[0][first + j], words.word[1][first + j]);
  for (int j = 0; j < step_blocks; ++j)
    store_pair(radius[j], direction_of(words.word[2][first + j], words.word[3][first + j]),
               out + 2 * (first + j));
}

template <class T>
BDL_ALWAYS_INLINE void normals_of_tile(const WordTile& words, int blocks, T* out) {
  for (int first = 0; first < blocks; first += step_blocks) normals_of_step(words, first, out);
}

#if BDL_X86_SIMD
template <class T>
BDL_TARGET("avx2")
void normals_avx2(const WordTile& words, int blocks, T* out) {
  normals_of_tile(words, blocks, out);
}

template <class T>
BDL_TARGET("avx512f")
void normals_avx512(const WordTile& words, int blocks, T* out) {
  normals_of_tile(words, blocks, out);
}
#endif

}  // namespace

template <class T>
void normal_tile([[maybe_unused]] Simd simd, const WordTile& words, int blocks, T* out) {
#if BDL_X86_SIMD
  if (simd == Simd::avx512) return normals_avx512(words, blocks, out);
  if (simd == Simd::avx2) return normals_avx2(words, blocks, out);
#endif
  normals_of_tile(words, blocks, out);
}

template <class T>
void fill_normal(const StreamKey& key, Index offset, std::span<T> out) {
  fill_from_tiles(key, offset, out, normal_tile<T>);
}

template <class T>
void check_normals(const StreamKey& key, Index count) {
  check_range(key, 0, static_cast<std::size_t>(count), 16 / static_cast<Index>(sizeof(T)));
}

template void check_normals<float>(const StreamKey&, Index);
template void check_normals<double>(const StreamKey&, Index);
template void normal_tile<float>(Simd, const WordTile&, int, float*);
template void normal_tile<double>(Simd, const WordTile&, int, double*);
template void fill_normal<float>(const StreamKey&, Index, std::span<float>);
template void fill_normal<double>(const StreamKey&, Index, std::span<double>);

}  // namespace bdl
