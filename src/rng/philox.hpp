// Counter-based random streams: Philox4x32-10 (Salmon et al. 2011, Random123). A number is a pure function of
// its StreamKey and its index, so any thread may draw any range of a stream, and a restart needs only seed
// and step.
//
// philox.cpp makes blocks of random words (philox_avx2.cpp and philox_avx512.cpp make the same words faster),
// a tile at a time (tile.hpp); normal.cpp, uniform.cpp and integers.cpp turn words into numbers;
// permutation.hpp permutes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/view.hpp"

namespace bdl {

/// Purpose of the numbers. The values define the streams: they are explicit, append only, and below 256.
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

/// Names one stream of 2^32 Philox blocks. Different keys share no input of Philox. All fill functions start
/// from the same blocks of a stream, so a key must be used for one purpose and one type.
struct StreamKey {
  std::uint64_t seed = 0;
  Stream stream = Stream::user;
  std::uint64_t step = 0;  ///< below 2^56
  std::uint32_t sample = 0;
};

/// Returns one block of Philox4x32-10.
std::array<std::uint32_t, 4> philox_block(const std::array<std::uint32_t, 4>& counter,
                                          const std::array<std::uint32_t, 2>& key);

/// Returns the counter of a stream's block: (block, sample, step mod 2^32, stream 2^24 + step / 2^32). It is
/// a bijection of (stream, step, sample, block); the seed is the Philox key, low word first.
std::array<std::uint32_t, 4> stream_counter(const StreamKey& key, std::uint32_t block);

/// Sets out[i] to standard normal number offset + i of the stream, independently of how a range is divided.
/// Normals reach 6.7 (float) and 8.5 (double). A stream has 2^34 normals in float, 2^33 in double.
template <class T>
void fill_normal(const StreamKey& key, Index offset, std::span<T> out);

/// Throws unless the stream has `count` normals; fill_normal() of any of them then does not throw.
template <class T>
void check_normals(const StreamKey& key, Index count);

/// Sets out[i] to uniform number offset + i of the stream, strictly between low and high. A stream has as
/// many as it has normals.
template <class T>
void fill_uniform(const StreamKey& key, Index offset, std::span<T> out, T low, T high);

/// Fills in a uniformly distributed permutation of 0 .. size - 1; size is at most 2^32.
void fill_permutation(const StreamKey& key, std::span<Index> out);

/// Fills in independent uniform integers in [0, bound), without modulo bias; at most 2^32 of them.
void fill_indices(const StreamKey& key, Index bound, std::span<Index> out);

}  // namespace bdl
