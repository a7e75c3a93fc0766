// Replaces the program's (and with it libbdl's) operator new by one that counts, and fails on request.
#pragma once

#ifndef BDL_TEST_ALONE
#error "a test that replaces operator new belongs in a folder alone: it is a program of its own"
#endif

#include "c_api/failing_allocations.hpp"

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
