// Replaces the program's operator new by one that counts. Include in one source file of a program:
// replacements may not be inline. BLAS keeps its own buffers, outside of it.
#pragma once

#ifndef BDL_TEST_ALONE
#error "a test that replaces operator new belongs in a folder alone: it is a program of its own"
#endif

#include <cstdint>
#include <cstdlib>
#include <new>

namespace counting {

inline std::size_t live_bytes = 0, calls = 0;
inline std::size_t buffer_bytes = 0;  // live ones of class Buffer, which alone asks for this alignment
inline constexpr std::size_t of_buffers = 64;

// The size stands in front of the memory, as far in front as the alignment asks.
inline void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t rounded_up = (size + alignment - 1) / alignment * alignment;
  char* const block = static_cast<char*>(std::aligned_alloc(alignment, rounded_up + alignment));
  if (!block) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(block) = size;
  live_bytes += size;
  if (alignment == of_buffers) buffer_bytes += size;
  ++calls;
  return block + alignment;
}

inline void release(void* memory, std::size_t alignment) {
  if (!memory) return;
  char* const block = static_cast<char*>(memory) - alignment;
  const std::size_t size = *reinterpret_cast<std::size_t*>(block);
  live_bytes -= size;
  if (alignment == of_buffers) buffer_bytes -= size;
  std::free(block);
}

inline constexpr std::size_t plain = 16;

/// Memory that is held: numbers, whose bytes an optimizer estimates, and the small objects around them.
struct Held {
  Held() = default;
  static Held now() { return {buffer_bytes, live_bytes - buffer_bytes}; }
  Held since(const Held& before) const {
    return {numbers - before.numbers, small_objects - before.small_objects};
  }
  std::size_t numbers = 0, small_objects = 0;

 private:
  Held(std::size_t of_numbers, std::size_t of_objects) : numbers(of_numbers), small_objects(of_objects) {}
};

/// Counts the allocations of later steps: those between the ends of two steps of a fit, whose progress look()
/// is.
struct LaterCalls {
  std::size_t before = 0, steps = 0, calls_since = 0;
  static std::int32_t look(void* context) {
    LaterCalls& later = *static_cast<LaterCalls*>(context);
    if (later.steps++ > 0) later.calls_since += calls - later.before;
    later.before = calls;
    return 0;
  }
};

}  // namespace counting

void* operator new(std::size_t size) {
  return counting::allocate(size, counting::plain);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counting::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  counting::release(memory, counting::plain);
}
void operator delete(void* memory, std::size_t) noexcept {
  counting::release(memory, counting::plain);
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  counting::release(memory, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  counting::release(memory, static_cast<std::size_t>(alignment));
}
