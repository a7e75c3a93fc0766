// The generator itself: published vectors, the counter's layout, the vectorised tiles.
#include <bit>

#include "rng_test.hpp"
#include "scalar_normal.hpp"

namespace bdl::testing {
namespace {

/// The known answers of Random123's kat_vectors for philox4x32 with 10 rounds.
void test_known_answers(void**) {
  const struct {
    Words counter;
    std::array<std::uint32_t, 2> key;
    Words answer;
  } cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& c : cases) assert_true(philox_block(c.counter, c.key) == c.answer);
}

/// Each of the 128 bits of (stream, step, sample, block) moves one counter bit of its own, so the counter is
/// a bijection.
void test_counter_is_a_bijection(void**) {
  const auto base = stream_counter({0, Stream{0}, 0, 0}, 0);
  Words covered{};
  const auto cover = [&](const Words& counter) {
    int bits = 0;
    for (std::size_t w = 0; w < 4; ++w) {
      bits += std::popcount(counter[w] ^ base[w]);
      assert_int_equal(covered[w] & (counter[w] ^ base[w]), 0);
      covered[w] |= counter[w] ^ base[w];
    }
    assert_int_equal(bits, 1);
  };
  for (int b = 0; b < 32; ++b) {
    cover(stream_counter({0, Stream{0}, 0, 0}, 1u << b));
    cover(stream_counter({0, Stream{0}, 0, 1u << b}, 0));
  }
  for (int b = 0; b < 56; ++b) cover(stream_counter({0, Stream{0}, std::uint64_t{1} << b, 0}, 0));
  for (int b = 0; b < 8; ++b) cover(stream_counter({0, Stream{1u << b}, 0, 0}, 0));
  for (const auto word : covered) assert_int_equal(word, 0xffffffff);
}

/// The numbers in the enumeration are part of every saved seed's meaning.
void test_stream_numbers(void**) {
  const Stream streams[] = {Stream::posterior_sample,
                            Stream::shuffle,
                            Stream::initialization,
                            Stream::prediction,
                            Stream::range_finder,
                            Stream::minibatch,
                            Stream::user};
  for (std::uint32_t i = 0; i < std::size(streams); ++i)
    assert_int_equal(static_cast<std::uint32_t>(streams[i]), i);
}

void test_tiles(void**) {
  const StreamKey keys[] = {
      {0, Stream::posterior_sample, 0, 0},
      {0xfedcba9876543210, Stream::user, 0xabcdef0123456789 >> 8, 0xdeadbeef},
      {0xffffffffffffffff, Stream{255}, (std::uint64_t{1} << 56) - 1, 0xffffffff},
  };
  WordTile tile;
  for (const Simd simd : available_simd())
    for (const StreamKey& key : keys)
      for (const std::uint32_t first : {0u, 1u, 12345u, 0x7fffffe0u, 0xffffffe1u})
        for (std::uint32_t blocks = step_blocks; blocks <= tile_blocks; blocks += step_blocks) {
          std::memset(&tile, 0xcc, sizeof tile);
          philox_tile(simd, key, first, static_cast<int>(blocks), tile);
          for (std::uint32_t j = 0; j < tile_blocks; ++j) {
            const auto words = block_words(key, first + j);
            for (std::size_t w = 0; w < 4; ++w)
              assert_int_equal(tile.word[w][j], j < blocks ? words[w] : 0xccccccccu);
          }
        }
}

}  // namespace
}  // namespace bdl::testing

int test_philox() {
  using namespace bdl::testing;
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_known_answers),
      cmocka_unit_test(test_counter_is_a_bijection),
      cmocka_unit_test(test_stream_numbers),
      cmocka_unit_test(test_tiles),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
