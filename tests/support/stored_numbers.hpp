// Numbers of each example and parameter that were written down before.
#pragma once

#include <algorithm>
#include <atomic>

#include "network/convolution/convolution.hpp"
#include "support/dense.hpp"

namespace bdl::testing {

template <class T>
class StoredNumbers final : public ExampleNumbers<T> {
 public:
  /// An example in each row, sections of `examples` rows; `elsewhere` where a packet has no example.
  BDL_UNSANITIZED StoredNumbers(const Dense& rows, Index examples, double elsewhere)
      : parameters_(rows.cols), packets_(rows.rows / examples * packets_of(examples)) {
    const Index size = packets_ * parameters_ * packet_size;
    numbers_.reserve(size);
    std::fill_n(numbers_.data(), size, static_cast<T>(elsewhere));
    for (Index r = 0; r < rows.rows; ++r) {
      const Index i = r % examples, packet = r / examples * packets_of(examples) + i / packet_size;
      for (Index p = 0; p < rows.cols; ++p)
        numbers_.data()[(packet * parameters_ + p) * packet_size + i % packet_size] =
            static_cast<T>(rows(r, p));
    }
  }
  void form(Index packet, Index first, Index count, T* out) const noexcept override {
    if (packet >= packets_ || first < 0 || count < 1 || first + count > parameters_) return;
    formed_ += count;
    std::copy_n(numbers_.data() + (packet * parameters_ + first) * packet_size, count * packet_size, out);
  }
  void start_count() const { formed_ = 0; }
  /// Since then, have as many numbers been asked for as there are?
  bool were_formed_once() const { return formed_ == packets_ * parameters_; }

 private:
  Index parameters_, packets_;
  Buffer<T> numbers_;
  mutable std::atomic<Index> formed_{0};
};

}  // namespace bdl::testing
