#include "rng/philox_x86.hpp"

#if BDL_X86_SIMD
#include <immintrin.h>

namespace bdl {

namespace {

BDL_TARGET("avx2") inline __m256i broadcast(std::uint32_t value) {
  return _mm256_set1_epi32(static_cast<int>(value));
}

/// Uses a shuffle, because shifts compete with the products for execution units.
BDL_TARGET("avx2") inline __m256i high_half(__m256i product) {
  return _mm256_shuffle_epi32(product, 0xf5);
}

/// Keys of all rounds, made once per tile because making them takes as long as using them.
struct RoundKeys {
  __m256i word[philox_rounds][2];
};

BDL_TARGET("avx2") inline RoundKeys round_keys(std::uint64_t seed) {
  RoundKeys keys;
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (auto& word : keys.word) {
    word[0] = broadcast(key0);
    word[1] = broadcast(key1);
    key0 += philox_increment[0];
    key1 += philox_increment[1];
  }
  return keys;
}

/// Runs all rounds on eight blocks, with word w of four of them in x[half][w].
BDL_TARGET("avx2") inline void encrypt(const RoundKeys& keys, __m256i (&x)[2][4]) {
  const __m256i multiplier0 = broadcast(philox_multiplier[0]), multiplier1 = broadcast(philox_multiplier[1]);
  for (const auto& key : keys.word)
    for (auto& word : x) {
      const __m256i product0 = _mm256_mul_epu32(word[0], multiplier0);
      const __m256i product1 = _mm256_mul_epu32(word[2], multiplier1);
      word[0] = high_half(product1) ^ (word[1] ^ key[0]);
      word[1] = product1;
      word[2] = high_half(product0) ^ (word[3] ^ key[1]);
      word[3] = product0;
    }
}

/// Returns the low halves of the lanes (a0 a1 a2 a3) and (b0 b1 b2 b3) as a0 a1 b0 b1 a2 a3 b2 b3.
BDL_TARGET("avx2") inline __m256i pack(__m256i a, __m256i b) {
  return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

}  // namespace

BDL_TARGET("avx2")
void philox_tile_avx2(const StreamKey& key, std::uint32_t first_block, int blocks, WordTile& words) {
  const auto counter = stream_counter(key, first_block);
  const RoundKeys keys = round_keys(key.seed);
  // pack() puts blocks 0 to 7 in order if x[0] holds blocks 0 1 4 5 and x[1] holds blocks 2 3 6 7.
  const __m256i lane = _mm256_set_epi64x(5, 4, 1, 0);
  for (int j = 0; j < blocks; j += 8) {
    __m256i x[2][4];
    for (int w = 0; w < 4; ++w) x[0][w] = x[1][w] = broadcast(counter[static_cast<std::size_t>(w)]);
    const std::uint32_t first = counter[0] + static_cast<std::uint32_t>(j);
    x[0][0] = _mm256_add_epi32(broadcast(first), lane);
    x[1][0] = _mm256_add_epi32(broadcast(first + 2), lane);
    encrypt(keys, x);
    for (int w = 0; w < 4; ++w)
      _mm256_store_si256(reinterpret_cast<__m256i*>(&words.word[w][j]), pack(x[0][w], x[1][w]));
  }
}

}  // namespace bdl

#endif
