// Streams are produced in tiles of Philox blocks, as plain arrays of words, so that compilers vectorise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/simd.hpp"
#include "base/view.hpp"
#include "rng/philox.hpp"

namespace bdl {

inline constexpr int tile_blocks = 64;
inline constexpr int step_blocks = 16;  // short ranges are made in steps of this size

/// Words of a tile: word[w][j] is word w of block j.
struct alignas(64) WordTile {
  std::uint32_t word[4][tile_blocks];
};

/// Makes blocks first_block .. first_block + blocks - 1 of the stream, modulo 2^32; `blocks` is a multiple of
/// step_blocks.
void philox_tile(Simd simd, const StreamKey& key, std::uint32_t first_block, int blocks, WordTile& words);

/// Makes blocks * 16 / sizeof(T) standard normals from the words, those of block 0 first.
template <class T>
void normal_tile(Simd simd, const WordTile& words, int blocks, T* out);

/// Throws unless the step is in range.
void check_key(const StreamKey& key);

/// Throws unless key is valid and the stream has elements offset .. offset + count - 1.
void check_range(const StreamKey& key, Index offset, std::size_t count, Index per_block);

/// Fills out with elements offset, offset + 1, ... of a stream that has 16 / sizeof(T) elements in each
/// block; transform(simd, words, blocks, values) makes the elements of some blocks.
template <class T, class Transform>
void fill_from_tiles(const StreamKey& key, Index offset, std::span<T> out, Transform transform) {
  constexpr Index per_block = 16 / sizeof(T), tile_size = tile_blocks * per_block;
  check_range(key, offset, out.size(), per_block);
  const Simd simd = widest_simd();
  WordTile words;
  alignas(64) T values[tile_size];
  auto block = static_cast<std::uint32_t>(offset / per_block);
  for (Index skip = offset % per_block; !out.empty(); skip = 0, block += tile_blocks) {
    const Index taken = std::min(tile_size - skip, static_cast<Index>(out.size()));
    constexpr Index step = step_blocks * per_block;
    const int blocks = static_cast<int>((skip + taken + step - 1) / step) * step_blocks;
    philox_tile(simd, key, block, blocks, words);
    if (taken == tile_size) {
      transform(simd, words, blocks, out.data());
    } else {
      transform(simd, words, blocks, values);
      std::copy_n(values + skip, taken, out.data());
    }
    out = out.subspan(static_cast<std::size_t>(taken));
  }
}

}  // namespace bdl
