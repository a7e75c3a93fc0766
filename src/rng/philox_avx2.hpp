#pragma once

#include "rng/tile.hpp"

namespace bdl {

#if BDL_X86_SIMD
/// philox_tile for AVX2.
void philox_tile_avx2(const StreamKey& key, std::uint32_t first_block, WordTile& words);
#endif

}  // namespace bdl
