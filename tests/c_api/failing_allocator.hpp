// Replaces the program's (and with it libbdl's) operator new by one that counts, and fails on request.
#pragma once

#ifndef BDL_TEST_ALONE
#error "a test that replaces operator new belongs in a folder alone: it is a program of its own"
#endif

#include <atomic>
#include <cstdlib>
#include <new>

namespace allocator {

inline std::atomic<long> live{0};       // allocations not yet freed
inline std::atomic<long> requests{0};   // since arm()
inline std::atomic<long> fail_from{0};  // the first of them that fails; 0: none does
inline std::atomic<long> fail_to{0};    // the last

inline constexpr std::size_t largest = std::size_t(1)
                                       << 40;  // no machine has more: memory checkers dislike the question

inline void arm(long from, long to) {
  requests = 0;
  fail_to = to;
  fail_from = from;
}
inline void disarm() {
  fail_from = 0;
}

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  const long number = ++requests, from = fail_from;
  if (from > 0 && number >= from && number <= fail_to) return nullptr;
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

// Include in one source file of a program: replacements may not be inline.
using Size = std::size_t;
using Alignment = std::align_val_t;
using NoThrow = std::nothrow_t;

void* operator new(Size n) {
  return allocator::allocate_or_throw(n, allocator::usual);
}
void* operator new[](Size n) {
  return allocator::allocate_or_throw(n, allocator::usual);
}
void* operator new(Size n, Alignment a) {
  return allocator::allocate_or_throw(n, allocator::number(a));
}
void* operator new[](Size n, Alignment a) {
  return allocator::allocate_or_throw(n, allocator::number(a));
}
void* operator new(Size n, const NoThrow&) noexcept {
  return allocator::allocate(n, allocator::usual);
}
void* operator new[](Size n, const NoThrow&) noexcept {
  return allocator::allocate(n, allocator::usual);
}
void* operator new(Size n, Alignment a, const NoThrow&) noexcept {
  return allocator::allocate(n, allocator::number(a));
}
void* operator new[](Size n, Alignment a, const NoThrow&) noexcept {
  return allocator::allocate(n, allocator::number(a));
}
void operator delete(void* p) noexcept {
  allocator::release(p);
}
void operator delete[](void* p) noexcept {
  allocator::release(p);
}
void operator delete(void* p, Size) noexcept {
  allocator::release(p);
}
void operator delete[](void* p, Size) noexcept {
  allocator::release(p);
}
void operator delete(void* p, Alignment) noexcept {
  allocator::release(p);
}
void operator delete[](void* p, Alignment) noexcept {
  allocator::release(p);
}
void operator delete(void* p, Size, Alignment) noexcept {
  allocator::release(p);
}
void operator delete[](void* p, Size, Alignment) noexcept {
  allocator::release(p);
}
void operator delete(void* p, const NoThrow&) noexcept {
  allocator::release(p);
}
void operator delete[](void* p, const NoThrow&) noexcept {
  allocator::release(p);
}
void operator delete(void* p, Alignment, const NoThrow&) noexcept {
  allocator::release(p);
}
void operator delete[](void* p, Alignment, const NoThrow&) noexcept {
  allocator::release(p);
}
