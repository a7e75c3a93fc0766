#include "rng/permutation.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr Index largest_size = Index{1} << 52;

/// Each of the eight rounds has 2^29 of the stream's 2^32 blocks, and halves are below 2^26 + 2.
constexpr int bits_of_half = 29;

Index ceil_root(Index n) {
  auto root = static_cast<Index>(std::sqrt(static_cast<double>(n)));
  while (root * root < n) ++root;
  while ((root - 1) * (root - 1) >= n) --root;
  return root;
}

/// Returns the remainder of a value below 2 bound.
Index wrapped(Index value, Index bound) {
  return value < bound ? value : value - bound;
}

}  // namespace

void Permutation::reset(const StreamKey& key, Index size) {
  computed_.reset();
  list_.clear();
  if (size > most_listed) {
    computed_.emplace(key, size);
  } else {
    list_.resize(at(size));
    fill_permutation(key, list_);
  }
  size_ = size;
}

Index Permutation::place_of(Index element) const {
  return computed_ ? computed_->place_of(element) : std::ranges::find(list_, element) - list_.begin();
}

FeistelPermutation::FeistelPermutation(const StreamKey& key, Index size)
    : key_(key), size_(size), a_(ceil_root(size)), b_((size + a_ - 1) / a_) {
  if (size < 1 || size > largest_size)
    fail(Status::ERROR_INVALID_ARGUMENT, "a permutation has %lld elements, expected 1 to 2^52",
         static_cast<long long>(size));
}

Index FeistelPermutation::number(std::uint32_t round, Index half, Index bound) const {
  const auto block = round << bits_of_half | static_cast<std::uint32_t>(half);
  const auto words = philox_block(stream_counter(key_, block), {static_cast<std::uint32_t>(key_.seed),
                                                                static_cast<std::uint32_t>(key_.seed >> 32)});
  __extension__ typedef unsigned __int128 Product;
  const std::uint64_t word = words[0] | std::uint64_t{words[1]} << 32;
  return static_cast<Index>(static_cast<Product>(word) * static_cast<std::uint64_t>(bound) >> 64);
}

Index FeistelPermutation::forward(Index value) const {
  Index left = value / b_, right = value % b_;
  for (std::uint32_t round = 0; round < rounds; round += 2) {
    left = wrapped(left + number(round, right, a_), a_);
    right = wrapped(right + number(round + 1, left, b_), b_);
  }
  return left * b_ + right;
}

Index FeistelPermutation::backward(Index value) const {
  Index left = value / b_, right = value % b_;
  for (std::uint32_t round = rounds; round > 0; round -= 2) {
    right = wrapped(right + b_ - number(round - 1, left, b_), b_);
    left = wrapped(left + a_ - number(round - 2, right, a_), a_);
  }
  return left * b_ + right;
}

Index FeistelPermutation::operator[](Index place) const {
  Index value = forward(place);
  while (value >= size_) value = forward(value);
  return value;
}

Index FeistelPermutation::place_of(Index element) const {
  Index value = backward(element);
  while (value >= size_) value = backward(value);
  return value;
}

}  // namespace bdl
