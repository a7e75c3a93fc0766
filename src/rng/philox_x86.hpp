// Philox in intrinsics, because GCC turns the 32 x 32 -> 64 bit products into shuffles and is 2.5 times
// slower. Every 64-bit lane holds one block's word in its low half; the high half is never cleared, as
// vpmuludq does not read it. Two registers per word are in flight, as the ten rounds are a chain of
// latencies.
#pragma once

#include "rng/tile.hpp"

namespace bdl {

inline constexpr std::uint32_t philox_multiplier[] = {0xD2511F53u, 0xCD9E8D57u};
inline constexpr std::uint32_t philox_increment[] = {0x9E3779B9u,
                                                     0xBB67AE85u};  // added to the key each round
inline constexpr int philox_rounds = 10;

#if BDL_X86_SIMD
/// philox_tile() for one instruction set.
void philox_tile_avx2(const StreamKey& key, std::uint32_t first_block, int blocks, WordTile& words);
void philox_tile_avx512(const StreamKey& key, std::uint32_t first_block, int blocks, WordTile& words);
#endif

}  // namespace bdl
