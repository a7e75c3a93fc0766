// 64-bit hashes, by which ranks compare their data.
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/view.hpp"

namespace bdl {

/// Hash of a sequence of numbers and texts. Different sequences have equal hashes once in 2^64 times.
class Hash {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 29;
  }
  void add(double value) { add_bytes(&value, sizeof value); }
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    add_bytes(text.data(), text.size());
  }
  template <class T>
  void add(ConstSpan<T> values) {
    add(static_cast<std::uint64_t>(values.size()));
    add_bytes(values.data(), values.size_bytes());
  }
  template <class T>
  void add(ConstMatrixView<T> values) {
    for (Index j = 0; j < values.cols; ++j) add(ConstSpan<T>(values.column(j)));
  }
  void add_all(std::initializer_list<Index> numbers) {
    for (const Index number : numbers) add(static_cast<std::uint64_t>(number));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* data, std::size_t size) {
    const auto* from = static_cast<const char*>(data);
    for (std::size_t i = 0; i < size; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + i, std::min<std::size_t>(8, size - i));
      add(word);
    }
  }
  std::uint64_t value_ = 0x243f6a8885a308d3u;
};

}  // namespace bdl
