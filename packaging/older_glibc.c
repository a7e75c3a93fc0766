/* The library of packages calls older versions of two functions of the C library, so that it runs with
   glibc 2.34 in place of 2.36. The linker sends calls here (option --wrap in packaging/library.sh). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

double __wrap_hypot(double x, double y);
uint32_t __wrap_arc4random(void);

/* The version of glibc 2.2.5 computes the same, and sets errno. */
double older_hypot(double x, double y);
__asm__(".symver older_hypot, hypot@GLIBC_2.2.5");

double __wrap_hypot(double x, double y) {
  return older_hypot(x, y);
}

/* Random bytes for std::random_device of the C++ runtime, which libbdl does not use. */
uint32_t __wrap_arc4random(void) {
  uint32_t bytes;
  if (getentropy(&bytes, sizeof bytes) != 0) abort();
  return bytes;
}
