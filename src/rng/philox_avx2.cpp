// Philox in AVX2 by hand, because GCC turns the 32 x 32 -> 64 bit products into shuffles and is 2.5 times
// slower. Every 64-bit lane holds one block's word in its low half; the high half is never cleared as
// vpmuludq does not read it.
#include "rng/philox_avx2.hpp"

#if BDL_X86_SIMD
#include <immintrin.h>

namespace bdl {

namespace {

BDL_TARGET("avx2") inline __m256i broadcast(std::uint32_t value) {
  return _mm256_set1_epi32(static_cast<int>(value));
}

/// Four blocks in x, all ten rounds.
BDL_TARGET("avx2") inline void philox_rounds(std::uint64_t seed, __m256i (&x)[4]) {
  const __m256i multiplier0 = broadcast(0xD2511F53u), multiplier1 = broadcast(0xCD9E8D57u);
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
    const __m256i product0 = _mm256_mul_epu32(x[0], multiplier0);
    const __m256i product1 = _mm256_mul_epu32(x[2], multiplier1);
    x[0] = _mm256_srli_epi64(product1, 32) ^ x[1] ^ broadcast(key0);
    x[1] = product1;
    x[2] = _mm256_srli_epi64(product0, 32) ^ x[3] ^ broadcast(key1);
    x[3] = product0;
  }
}

/// The low halves of the lanes (a0 a1 a2 a3) and (b0 b1 b2 b3) as a0 a1 b0 b1 a2 a3 b2 b3.
BDL_TARGET("avx2") inline __m256i pack(__m256i a, __m256i b) {
  return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

}  // namespace

BDL_TARGET("avx2")
void philox_tile_avx2(const StreamKey& key, std::uint32_t first_block, WordTile& words) {
  const auto counter = stream_counter(key, first_block);
  // pack() puts the low lanes' blocks 0 1 2 3 first if a holds blocks 0 1 4 5 and b holds blocks 2 3 6 7.
  const __m256i lane = _mm256_set_epi64x(5, 4, 1, 0);
  for (std::uint32_t j = 0; j < tile_blocks; j += 8) {
    __m256i a[4], b[4];
    for (int w = 0; w < 4; ++w) a[w] = b[w] = broadcast(counter[static_cast<std::size_t>(w)]);
    a[0] = _mm256_add_epi32(broadcast(counter[0] + j), lane);
    b[0] = _mm256_add_epi32(broadcast(counter[0] + j + 2), lane);
    philox_rounds(key.seed, a);
    philox_rounds(key.seed, b);
    for (int w = 0; w < 4; ++w)
      _mm256_store_si256(reinterpret_cast<__m256i*>(&words.word[w][j]), pack(a[w], b[w]));
  }
}

}  // namespace bdl

#endif
