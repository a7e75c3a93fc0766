// The library's floating-point environment, whatever the host has set: rounding to nearest, no traps,
// subnormal numbers.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

namespace bdl {

/// Sets the default environment and at its end restores the previous one with its flags.
class DefaultFloats {
 public:
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

#if defined(__x86_64__)
  // The library does not use x87 registers, but functions of the C library may.
  DefaultFloats() noexcept : vectors_(_mm_getcsr()) {
    __asm__ volatile("fnstcw %0" : "=m"(x87_));
    if (x87_ != default_x87) set_x87(default_x87);
    _mm_setcsr(default_vectors);
  }
  ~DefaultFloats() {
    if (x87_ != default_x87) {
      __asm__ volatile("fnclex");  // flags raised here must not trap in the host
      set_x87(x87_);
    }
    _mm_setcsr(vectors_);
  }

 private:
  static constexpr unsigned default_vectors = 0x1f80;
  static constexpr unsigned short default_x87 = 0x37f;
  static void set_x87(unsigned short control) noexcept {
    __asm__ volatile("fldcw %0" : : "m"(control));
  }

  unsigned vectors_;
  unsigned short x87_;
#else
  DefaultFloats() noexcept {
    fegetenv(&before_);
    fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() {
    fesetenv(&before_);
  }

 private:
  fenv_t before_;
#endif
};

}  // namespace bdl
