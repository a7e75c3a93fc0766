#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "rng/tile.hpp"

namespace bdl {

namespace {

/// Makes (k + 1/2) 2^-23 for a 23-bit k: exact, and strictly inside (0, 1).
void unit_tile(const WordTile& words, int blocks, float* out) {
  for (int j = 0; j < blocks; ++j)
    for (int w = 0; w < 4; ++w)
      out[4 * j + w] =
          (static_cast<float>(static_cast<std::int32_t>(words.word[w][j] >> 9)) + 0.5f) * 0x1p-23f;
}

/// Makes (k + 1/2) 2^-52 for a 52-bit k.
void unit_tile(const WordTile& words, int blocks, double* out) {
  for (int j = 0; j < blocks; ++j)
    for (int w = 0; w < 4; w += 2)
      out[2 * j + w / 2] = (words.word[w + 1][j] * 0x1p20 + (words.word[w][j] >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

template <class T>
void fill_uniform(const StreamKey& key, Index offset, std::span<T> out, T low, T high) {
  const T width = high - low;
  const T first = std::nextafter(low, high), last = std::nextafter(high, low);
  if (!(low < high) || !(first < high) || !std::isfinite(width))
    fail(Status::ERROR_INVALID_ARGUMENT, "the interval is (%g, %g), expected numbers between finite bounds",
         static_cast<double>(low), static_cast<double>(high));
  fill_from_tiles(key, offset, out, [=](Simd, const WordTile& words, int blocks, T* values) {
    unit_tile(words, blocks, values);
    // Rounding can reach the ends of the interval, so the result is kept strictly inside.
    for (Index i = 0; i < blocks * Index{16 / sizeof(T)}; ++i)
      values[i] = std::clamp(low + width * values[i], first, last);
  });
}

template void fill_uniform<float>(const StreamKey&, Index, std::span<float>, float, float);
template void fill_uniform<double>(const StreamKey&, Index, std::span<double>, double, double);

}  // namespace bdl
