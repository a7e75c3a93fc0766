#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "rng/tile.hpp"

namespace bdl {

namespace {

/// Returns the words of a stream in order, two at a time.
class WordSequence {
 public:
  explicit WordSequence(const StreamKey& key) : key_(key), simd_(widest_simd()) { check_key(key); }

  std::uint64_t next() {
    if (position_ % (2 * tile_blocks) == 0)
      philox_tile(simd_, key_, static_cast<std::uint32_t>(position_ / 2), tile_blocks, tile_);
    const std::uint64_t block = position_ / 2 % tile_blocks, pair = position_ % 2;
    ++position_;
    return tile_.word[2 * pair][block] | std::uint64_t{tile_.word[2 * pair + 1][block]} << 32;
  }

 private:
  StreamKey key_;
  Simd simd_;
  std::uint64_t position_ = 0;
  WordTile tile_;
};

/// Returns a uniform integer in [0, bound): the high half of word * bound, after rejecting words whose low
/// half is among the 2^64 mod bound surplus ones (Lemire 2019).
std::uint64_t bounded(WordSequence& words, std::uint64_t bound) {
  __extension__ typedef unsigned __int128 Product;
  auto product = static_cast<Product>(words.next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t surplus = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < surplus)
      product = static_cast<Product>(words.next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

/// Allows half of a stream's 2^33 word pairs: fewer than one in two is rejected, so the other half replaces
/// them.
void check_count(std::size_t count) {
  if (count > std::size_t{1} << 32)
    fail(Status::ERROR_INVALID_ARGUMENT, "%zu random integers are needed, expected at most 2^32", count);
}

}  // namespace

void fill_permutation(const StreamKey& key, std::span<Index> out) {
  check_count(out.size());
  WordSequence words(key);
  std::iota(out.begin(), out.end(), Index{0});
  in_chunks(std::ssize(out) - 1, 1, [&](Index k) {  // Fisher-Yates
    const std::size_t i = out.size() - static_cast<std::size_t>(k);
    std::swap(out[i - 1], out[bounded(words, i)]);
  });
}

void fill_indices(const StreamKey& key, Index bound, std::span<Index> out) {
  if (bound < 1)
    fail(Status::ERROR_INVALID_ARGUMENT, "bound is %lld, expected at least 1", static_cast<long long>(bound));
  check_count(out.size());
  WordSequence words(key);
  for (Index& index : out) index = static_cast<Index>(bounded(words, static_cast<std::uint64_t>(bound)));
}

}  // namespace bdl
