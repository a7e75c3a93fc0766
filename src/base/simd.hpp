// Hot loops are compiled once per instruction set and one copy is chosen at run time. All copies give the
// same bits because their files are compiled with -ffp-contract=off.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define BDL_X86_SIMD 1
#define BDL_TARGET(instruction_set) __attribute__((target(instruction_set)))
#else
#define BDL_X86_SIMD 0
#endif

// A loop body must be inlined into each copy to be compiled for its instruction set.
#define BDL_ALWAYS_INLINE __attribute__((always_inline)) inline

namespace bdl {

/// In increasing order of width.
enum class Simd { baseline, avx2, avx512 };

/// The widest set that this processor has.
inline Simd widest_simd() {
#if BDL_X86_SIMD
  if (__builtin_cpu_supports("avx512f")) return Simd::avx512;
  if (__builtin_cpu_supports("avx2")) return Simd::avx2;
#endif
  return Simd::baseline;
}

}  // namespace bdl
