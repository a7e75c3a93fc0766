// Hot loops are compiled once for each instruction set, and one copy is chosen at run time.
#pragma once

#include <atomic>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#define BDL_X86_SIMD 1
#define BDL_TARGET(instruction_set) __attribute__((target(instruction_set)))
#else
#define BDL_X86_SIMD 0
#endif

// A loop body must be inlined into each copy to be compiled for its instruction set.
#define BDL_ALWAYS_INLINE __attribute__((always_inline)) inline
#define BDL_INLINE_LAMBDA __attribute__((always_inline))

namespace bdl {

/// Instruction sets, by increasing width.
enum class Simd { baseline, avx2, avx512 };

/// Widest set that may be used; tests set narrower ones.
inline std::atomic<Simd> most_simd{Simd::avx512};

/// Returns the widest set that this processor has.
inline Simd widest_simd() {
#if BDL_X86_SIMD
  const Simd most = most_simd.load(std::memory_order_relaxed);
  if (most == Simd::avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return Simd::avx512;
  if (most != Simd::baseline && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return Simd::avx2;
#endif
  return Simd::baseline;
}

/// Bytes of a vector register, as a type.
template <int bytes>
using VectorWidth = std::integral_constant<int, bytes>;

#if BDL_X86_SIMD
template <class Body>
BDL_TARGET("avx2,fma")
void run_avx2(Body& body) {
  body(VectorWidth<32>{});
}

template <class Body>
BDL_TARGET("avx512f,avx512dq,avx2,fma")
void run_avx512(Body& body) {
  body(VectorWidth<64>{});
}
#endif

/// Calls body(VectorWidth<bytes>{}) compiled for the instruction set (by default this processor's widest).
/// The body is a BDL_INLINE_LAMBDA with an auto argument. Results may differ in rounding between instruction
/// sets.
template <class Body>
void with_simd([[maybe_unused]] Simd simd, Body&& body) {
#if BDL_X86_SIMD
  switch (simd) {
    case Simd::avx512:
      return run_avx512(body);
    case Simd::avx2:
      return run_avx2(body);
    default:
      break;
  }
#endif
  body(VectorWidth<16>{});
}

template <class Body>
void with_simd(Body&& body) {
  with_simd(widest_simd(), body);
}

/// A vector register of `bytes` bytes.
template <class T, int bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
};

}  // namespace bdl
