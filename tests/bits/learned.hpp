// One number for everything that training has changed.
#pragma once

#include <cstdint>

#include "bits/create.hpp"

namespace bits {

/// FNV-1a, 64 bits.
class Hash {
 public:
  void add(const void* bytes, std::size_t size);
  template <class T>
  void add_number(T number) {
    add(&number, sizeof number);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// Posterior, scales, counters and predictions, as far as C functions give them; a function that refuses
/// counts with its status.
void add_learned(Hash& hash, const Problem& problem, const Learner& learner);

}  // namespace bits
