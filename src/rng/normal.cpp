// Box-Muller: (sqrt(-2 log u) cos 2 pi v, sqrt(-2 log u) sin 2 pi v) are two independent standard normals. It
// takes a fixed number of words per pair, which rejection methods do not, and so gives random access and full
// vectors.
#include <cmath>

#include "rng/elementary.hpp"
#include "rng/tile.hpp"

namespace bdl {

namespace {

/// The direction of 2 pi v, split as v = quadrant / 4 + turns so that |turns| < 1/8 keeps its relative
/// precision.
struct Angle {
  std::uint32_t quadrant;
  std::int32_t rest;  // v 2^32 - quadrant 2^30, in [-2^29, 2^29)
};

BDL_ALWAYS_INLINE Angle split_angle(std::uint32_t word) {
  const std::uint32_t quadrant = (word + 0x20000000u) >> 30;
  return {quadrant, static_cast<std::int32_t>(word - (quadrant << 30))};
}

template <class T>
BDL_ALWAYS_INLINE void store_pair(T u, Direction<T> direction, T* out) {
  const T radius = std::sqrt(T{-2} * log_positive(u));
  out[0] = radius * direction.cosine;
  out[1] = radius * direction.sine;
}

/// u = (word + 1/2) 2^-32 rounded once; v = (word + 1/2) 2^-32.
BDL_ALWAYS_INLINE void box_muller(std::uint32_t radius_word, std::uint32_t angle_word, float* out) {
  const auto high = static_cast<float>(static_cast<std::int32_t>(radius_word >> 16));
  const auto low = static_cast<float>(static_cast<std::int32_t>(radius_word & 0xffffu));
  const Angle angle = split_angle(angle_word);
  const float turns = static_cast<float>(2 * angle.rest + 1) * 0x1p-33f;
  store_pair((high * 0x1p16f + (low + 0.5f)) * 0x1p-32f, direction(angle.quadrant, turns), out);
}

/// u = (high 2^21 + low / 2^11 + 1) 2^-53 exactly; v = (high + (low / 2 + 1/2) 2^-31) 2^-32 rounded once,
/// where low / 2^11 and low / 2 are whole.
BDL_ALWAYS_INLINE void box_muller(const std::uint32_t (&word)[4], double* out) {
  const auto high = static_cast<double>(static_cast<std::int32_t>(word[1] ^ 0x80000000u)) + 0x1p31;
  const auto low = static_cast<double>(static_cast<std::int32_t>(word[0] >> 11));
  const Angle angle = split_angle(word[3]);
  const double fraction = (static_cast<double>(static_cast<std::int32_t>(word[2] >> 1)) + 0.5) * 0x1p-31;
  const double turns = (static_cast<double>(angle.rest) + fraction) * 0x1p-32;
  store_pair((high * 0x1p21 + (low + 1.0)) * 0x1p-53, direction(angle.quadrant, turns), out);
}

BDL_ALWAYS_INLINE void normals_of_tile(const WordTile& words, float* out) {
  for (int j = 0; j < tile_blocks; ++j) {
    box_muller(words.word[0][j], words.word[1][j], out + 4 * j);
    box_muller(words.word[2][j], words.word[3][j], out + 4 * j + 2);
  }
}

BDL_ALWAYS_INLINE void normals_of_tile(const WordTile& words, double* out) {
  for (int j = 0; j < tile_blocks; ++j)
    box_muller({words.word[0][j], words.word[1][j], words.word[2][j], words.word[3][j]}, out + 2 * j);
}

#if BDL_X86_SIMD
template <class T>
BDL_TARGET("avx2")
void normals_avx2(const WordTile& words, T* out) {
  normals_of_tile(words, out);
}

template <class T>
BDL_TARGET("avx512f")
void normals_avx512(const WordTile& words, T* out) {
  normals_of_tile(words, out);
}
#endif

}  // namespace

template <class T>
void normal_tile([[maybe_unused]] Simd simd, const WordTile& words, T* out) {
#if BDL_X86_SIMD
  if (simd == Simd::avx512) return normals_avx512(words, out);
  if (simd == Simd::avx2) return normals_avx2(words, out);
#endif
  normals_of_tile(words, out);
}

template <class T>
void fill_normal(const StreamKey& key, Index offset, std::span<T> out) {
  fill_from_tiles(key, offset, out, normal_tile<T>);
}

template void normal_tile<float>(Simd, const WordTile&, float*);
template void normal_tile<double>(Simd, const WordTile&, double*);
template void fill_normal<float>(const StreamKey&, Index, std::span<float>);
template void fill_normal<double>(const StreamKey&, Index, std::span<double>);

}  // namespace bdl
