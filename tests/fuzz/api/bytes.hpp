// The fuzzer's input, read one decision at a time; and numbers that a single byte of it seeds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  /// 0 when there are no more.
  std::uint8_t next() { return empty() ? std::uint8_t(0) : *at_++; }
  std::int64_t below(std::int64_t count) { return next() % count; }

  template <class T, std::size_t n>
  const T& one_of(const T (&choices)[n]) {
    return choices[next() % n];
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// Array elements: a byte is enough for a whole matrix.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint32_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  double unit() { return bits() / 2147483648.0; }
  /// Variance 1, within +-3.
  double real() { return 2 * (unit() + unit() + unit() - 1.5); }
  std::int64_t below(std::int64_t count) { return bits() % count; }

 private:
  std::uint64_t state_;
};

}  // namespace fuzz
