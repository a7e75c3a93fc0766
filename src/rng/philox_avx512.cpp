#include "rng/philox_x86.hpp"

#if BDL_X86_SIMD
#include <immintrin.h>

namespace bdl {

namespace {

BDL_TARGET("avx512f") inline __m512i broadcast(std::uint32_t value) {
  return _mm512_set1_epi32(static_cast<int>(value));
}

// Masked forms with all lanes, because GCC 12 warns that its unmasked ones read uninitialised values.
BDL_TARGET("avx512f") inline __m512i multiply(__m512i a, __m512i b) {
  return _mm512_maskz_mul_epu32(0xff, a, b);
}

BDL_TARGET("avx512f") inline __m512i high_half(__m512i product) {
  return _mm512_maskz_shuffle_epi32(0xffff, product, _MM_PERM_DDBB);
}

BDL_TARGET("avx512f") inline __m512i xor3(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/// Runs all rounds on sixteen blocks, with word w of eight of them in x[half][w].
BDL_TARGET("avx512f") inline void encrypt(std::uint64_t seed, __m512i (&x)[2][4]) {
  const __m512i multiplier0 = broadcast(philox_multiplier[0]), multiplier1 = broadcast(philox_multiplier[1]);
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    const __m512i round_key0 = broadcast(key0), round_key1 = broadcast(key1);
    for (auto& word : x) {
      const __m512i product0 = multiply(word[0], multiplier0);
      const __m512i product1 = multiply(word[2], multiplier1);
      word[0] = xor3(high_half(product1), word[1], round_key0);
      word[1] = product1;
      word[2] = xor3(high_half(product0), word[3], round_key1);
      word[3] = product0;
    }
    key0 += philox_increment[0];
    key1 += philox_increment[1];
  }
}

}  // namespace

BDL_TARGET("avx512f")
void philox_tile_avx512(const StreamKey& key, std::uint32_t first_block, int blocks, WordTile& words) {
  const auto counter = stream_counter(key, first_block);
  const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i low_halves = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  for (int j = 0; j < blocks; j += 16) {
    __m512i x[2][4];
    for (int w = 0; w < 4; ++w) x[0][w] = x[1][w] = broadcast(counter[static_cast<std::size_t>(w)]);
    const std::uint32_t first = counter[0] + static_cast<std::uint32_t>(j);
    x[0][0] = _mm512_add_epi32(broadcast(first), lane);
    x[1][0] = _mm512_add_epi32(broadcast(first + 8), lane);
    encrypt(key.seed, x);
    for (int w = 0; w < 4; ++w)
      _mm512_store_si512(&words.word[w][j], _mm512_permutex2var_epi32(x[0][w], low_halves, x[1][w]));
  }
}

}  // namespace bdl

#endif
