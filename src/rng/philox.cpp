// The only file that includes Random123. Its assertion is disabled, as the round count is a constant here.
#define R123_ASSERT(condition)
#include <Random123/philox.h>

#include "base/error.hpp"
#include "rng/philox_x86.hpp"
#include "rng/tile.hpp"

namespace bdl {

namespace {

philox4x32_key_t philox_key(std::uint64_t seed) {
  return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
}

}  // namespace

std::array<std::uint32_t, 4> philox_block(const std::array<std::uint32_t, 4>& counter,
                                          const std::array<std::uint32_t, 2>& key) {
  const auto block = philox4x32_R(10, {{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {block.v[0], block.v[1], block.v[2], block.v[3]};
}

std::array<std::uint32_t, 4> stream_counter(const StreamKey& key, std::uint32_t block) {
  const auto high = static_cast<std::uint32_t>(key.stream) << 24 | static_cast<std::uint32_t>(key.step >> 32);
  return {block, key.sample, static_cast<std::uint32_t>(key.step), high};
}

void philox_tile([[maybe_unused]] Simd simd, const StreamKey& key, std::uint32_t first_block, int blocks,
                 WordTile& words) {
#if BDL_X86_SIMD
  if (simd == Simd::avx512) return philox_tile_avx512(key, first_block, blocks, words);
  if (simd == Simd::avx2) return philox_tile_avx2(key, first_block, blocks, words);
#endif
  const auto first = stream_counter(key, first_block);
  const philox4x32_key_t seed = philox_key(key.seed);
  for (int j = 0; j < blocks; ++j) {
    const philox4x32_ctr_t counter{{first[0] + static_cast<std::uint32_t>(j), first[1], first[2], first[3]}};
    const philox4x32_ctr_t block = philox4x32_R(10, counter, seed);
    for (int w = 0; w < 4; ++w) words.word[w][j] = block.v[w];
  }
}

void check_key(const StreamKey& key) {
  if (key.step >> 56 != 0)
    fail(Status::ERROR_INVALID_ARGUMENT, "step is %llu, expected less than 2^56",
         static_cast<unsigned long long>(key.step));
}

void check_range(const StreamKey& key, Index offset, std::size_t count, Index per_block) {
  check_key(key);
  if (offset < 0)
    fail(Status::ERROR_INVALID_ARGUMENT, "offset is %lld, expected at least 0",
         static_cast<long long>(offset));
  const Index length = per_block << 32;
  if (offset > length || count > static_cast<std::size_t>(length - offset))
    fail(Status::ERROR_INVALID_ARGUMENT, "the range has %zu elements from %lld, expected to end by %lld",
         count, static_cast<long long>(offset), static_cast<long long>(length));
}

}  // namespace bdl
