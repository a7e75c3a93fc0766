// Counter-based random streams: Philox4x32-10 (Salmon et al. 2011, Random123). A number is a pure function of
// its StreamKey and its index, so any thread may draw any part of a stream and a restart needs only seed and
// step.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/view.hpp"

namespace bdl {

/// What the numbers are for. The values define the streams: explicit, append only, below 256.
enum class Stream : std::uint32_t {
  posterior_sample = 0,
  shuffle = 1,
  initialization = 2,
  prediction = 3,
  range_finder = 4,
  minibatch = 5,
  user = 6,
  prediction_noise = 7,
  probe = 8,
  search = 9,
  layer_noise = 10,
  augmentation = 11,
  weight_noise = 12,
  prediction_weight_noise = 13,
  labels = 14,
};

/// Names one stream of 2^32 Philox blocks. Keys that differ anywhere share no input of Philox; but all fill
/// functions start from the same blocks of a stream, so one key serves one purpose and one type.
struct StreamKey {
  std::uint64_t seed = 0;
  Stream stream = Stream::user;
  std::uint64_t step = 0;  ///< below 2^56
  std::uint32_t sample = 0;
};

/// One block of Philox4x32-10.
std::array<std::uint32_t, 4> philox_block(const std::array<std::uint32_t, 4>& counter,
                                          const std::array<std::uint32_t, 2>& key);

/// The counter of a stream's block: (block, sample, step mod 2^32, stream 2^24 + step / 2^32). A bijection of
/// (stream, step, sample, block); the seed is the Philox key, low word first.
std::array<std::uint32_t, 4> stream_counter(const StreamKey& key, std::uint32_t block);

/// out[i] = standard normal number offset + i of the stream, whatever the pieces a range is filled in.
/// Reaches 6.7 (float) and 8.5 (double). A stream has 2^34 normals in float, 2^33 in double.
template <class T>
void fill_normal(const StreamKey& key, Index offset, std::span<T> out);

/// Throws unless the stream has `count` normals: then fill_normal() of a part of them does not throw.
template <class T>
void check_normals(const StreamKey& key, Index count);

/// out[i] = uniform number offset + i of the stream, strictly between low and high; as many as there are
/// normals.
template <class T>
void fill_uniform(const StreamKey& key, Index offset, std::span<T> out, T low, T high);

/// A uniformly distributed permutation of 0 .. size - 1; size at most 2^32.
void fill_permutation(const StreamKey& key, std::span<Index> out);

/// Independent uniform integers in [0, bound), without modulo bias; at most 2^32 of them.
void fill_indices(const StreamKey& key, Index bound, std::span<Index> out);

}  // namespace bdl
