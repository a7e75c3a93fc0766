// Random permutations of 0 .. n - 1 that are pure functions of a stream's key.
#pragma once

#include <optional>
#include <vector>

#include "rng/philox.hpp"

namespace bdl {

/// A bijection of 0 .. n - 1 that is computed place by place: eight Feistel rounds over Z_a x Z_b, a =
/// ceil(sqrt n), b = ceil(n / a), with Philox as the round function; values from n on go through it again.
/// Not for tiny n: eight rounds reach some orders of six elements more often than others.
class FeistelPermutation {
 public:
  FeistelPermutation(const StreamKey& key, Index size);
  Index operator[](Index place) const;
  Index place_of(Index element) const;

 private:
  static constexpr std::uint32_t rounds = 8;
  Index forward(Index value) const;
  Index backward(Index value) const;
  /// Returns a random number below bound for a round.
  Index number(std::uint32_t round, Index half, Index bound) const;

  StreamKey key_;
  Index size_, a_, b_;
};

/// Largest permutation that is kept as a list; larger ones take no memory.
inline constexpr Index most_listed = Index{1} << 24;

class Permutation {
 public:
  /// Makes a permutation of `size` elements, 1 to 2^52.
  void reset(const StreamKey& key, Index size);
  Index size() const { return size_; }
  Index operator[](Index place) const { return computed_ ? (*computed_)[place] : list_[at(place)]; }
  /// Returns the place of an element: the inverse.
  Index place_of(Index element) const;

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  Index size_ = 0;
  std::vector<Index> list_;
  std::optional<FeistelPermutation> computed_;
};

}  // namespace bdl
