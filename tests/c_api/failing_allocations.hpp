// Counts the allocations of a program that replaces operator new (failing_allocator.hpp), and fails some on
// request.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace allocator {

inline std::atomic<long> live{0};       // allocations not yet freed
inline std::atomic<long> requests{0};   // since arm()
inline std::atomic<long> fail_from{0};  // the first of them that fails; 0: none does
inline std::atomic<long> fail_to{0};    // the last

inline std::size_t largest = std::size_t(1)
                             << 40;  // no machine has more: memory checkers dislike the question

inline thread_local bool is_spared = false;  // this thread's do not count, and none of them fails

inline void arm(long from, long to) {
  requests = 0;
  fail_to = to;
  fail_from = from;
}
inline void disarm() {
  fail_from = 0;
}

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (!is_spared) {
    const long number = ++requests, from = fail_from;
    if (from > 0 && number >= from && number <= fail_to) return nullptr;
  }
  if (size > largest) return nullptr;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (memory) ++live;
  return memory;
}

inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

inline void release(void* memory) noexcept {
  if (memory) --live;
  std::free(memory);
}

inline constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
inline std::size_t number(std::align_val_t alignment) {
  return static_cast<std::size_t>(alignment);
}

}  // namespace allocator
