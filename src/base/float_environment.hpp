// The floating-point environment that the library computes in, whatever the host has set: rounding to
// nearest, no traps, subnormal numbers.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

namespace bdl {

/// The default environment while it lives; the one before, its flags included, comes back after.
class DefaultFloats {
 public:
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

#if defined(__x86_64__)
  // Nothing here computes in the registers of x87, but the C library's functions may.
  DefaultFloats() noexcept : vectors_(_mm_getcsr()) {
    __asm__ volatile("fnstcw %0" : "=m"(x87_));
    if (x87_ != default_x87) set_x87(default_x87);
    _mm_setcsr(default_vectors);
  }
  ~DefaultFloats() {
    if (x87_ != default_x87) {
      __asm__ volatile("fnclex");  // what was raised here is not to trap there
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
